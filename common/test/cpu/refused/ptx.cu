__global__ void k(int* p) {
    int x = *p;
    asm("add.s32 %0, %1, 1;" : "=r"(*p) : "r"(x));
}
