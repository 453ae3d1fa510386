#pragma once
constexpr int T = 16;
__device__ float tile_dot(const float* a, const float* b, int n, int row, int col, int t);
