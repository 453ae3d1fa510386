#include <cstdio>
#include <cublas_v2.h>
int main() {}
