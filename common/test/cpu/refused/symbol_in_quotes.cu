__device__ int counter;
int main() {
    void* p;
    return cudaGetSymbolAddress(&p, "counter");
}
