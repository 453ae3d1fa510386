#include "matmul.h"
void matmul_ref(const float* restrict a, const float* restrict b, float* restrict c, int n) {
  for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) { float s = 0; for (int k = 0; k < n; ++k) s += a[i * n + k] * b[k * n + j]; c[i * n + j] = s; }
}
