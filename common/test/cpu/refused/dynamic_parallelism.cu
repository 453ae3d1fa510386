__global__ void k() {}
__global__ void parent() {
    k<<<1, 1>>>();
}
