int main() {
    return cudaThreadSynchronize();
}
