int main() {
    int g;
    cudaGraphCreate(&g, 0);
}
