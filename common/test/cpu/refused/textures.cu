int main() {
    int t;
    cudaCreateTextureObject(&t, nullptr, nullptr, nullptr);
}
