#ifndef MATMUL_H
#define MATMUL_H
#ifdef __cplusplus
extern "C" {
#endif
int matmul_gpu(const float* a, const float* b, float* c, int n);
void matmul_ref(const float* a, const float* b, float* c, int n);
#ifdef __cplusplus
}
#endif
#endif
