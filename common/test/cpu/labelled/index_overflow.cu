// index_overflow.cu - labelled kernels: an int index that overflows and afterwards is in bounds or guarded, and int
// arithmetic that overflows and is data.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse} --each {33,200}
#include "labelled.cuh"

#define ID int(blockIdx.x * blockDim.x + threadIdx.x)

// ---- an index: none of these leaves its array ---------------

__global__ void index_wraps_to_zero(const int* a, int* out, int pitch) {
    const int i = (65536 + ID) * pitch;  // BOUNDS index_wraps_to_zero
    if (i >= 0 && i < 64) out[ID] = a[i];
}
__global__ void index_negative_is_skipped(const char* a, int* out, int n, int stride) {
    for (int k = 0; k < 4; ++k) {
        const int i = (ID + 1000 * k) * stride;  // BOUNDS index_negative_is_skipped
        if (i < 0) continue;
        if (i < n) out[ID] = a[i];
    }
}
__global__ void index_subscript(const int* a, int* out, int n, int w) {
    out[ID] = a[unsigned((ID + 70000) * w) % unsigned(n)];  // BOUNDS index_subscript
}
__global__ void index_positive_modulo(const int* a, int* out, int n, int w) {
    int i = ID * w + w * 3000;  // BOUNDS index_positive_modulo
    i = (i % n + n) % n;
    out[ID] = a[i];
}
__device__ int offset_of(int row, int col, int width) { return row * width + col; }  // BOUNDS index_helper
__global__ void index_helper(const int* a, int* out, int n, int width) {
    const int at = offset_of(ID + 80000, 1, width);
    if (at >= 0 && at < n)
        out[ID] = a[at];
    else
        out[ID] = 0;
}
__global__ void index_abs(const int* a, int* out, int n, int w) {
    int h = (ID + 3) * w;  // BOUNDS index_abs
    h = abs(h);
    if (h >= 0) out[ID] = a[h % n];
}
__global__ void index_midpoint(const int* a, int* out, int n, int low, int high) {
    const int mid = (low + high) / 2;  // BOUNDS index_midpoint
    if (mid < 0 || mid >= n)
        out[ID] = 0;
    else
        out[ID] = a[mid];
}
__global__ void index_pointer_sum(const int* a, int* out, int n, int w) {
    const int at = w * (ID + 65536);  // BOUNDS index_pointer_sum
    const int* p = a + (at < 0 ? 0 : at % n);
    out[ID] = *p;
}
__global__ void index_accumulates(const int* a, int* out, int n, int step) {
    int i = ID;
    for (int k = 0; k < 5; ++k) {
        i += step;  // BOUNDS index_accumulates
        if (i >= 0 && i < n) out[ID] += a[i];
    }
}
struct View {
    const int* data;
    int width, size;
    __device__ int get(int r, int c) const {
        const int i = r * width + c;  // BOUNDS index_view
        return i < 0 || i >= size ? 0 : data[i];
    }
};
__global__ void index_view(View v, int* out) { out[ID] = v.get(100000 + ID, 2); }
__global__ void index_writes(int* out, int n, int w) {
    int i = ID * w;  // BOUNDS index_writes
    if (i >= 0 && i < n) out[i] = ID;
}
__global__ void index_volume(const int* a, int* out, int n, int w, int h) {
    const int z = 50 + ID, i = (z * h + 7) * w + ID;  // BOUNDS index_volume
    out[ID] = i < 0 ? 0 : a[i % n];
}
__global__ void index_negated(const int* a, int* out, int n, int low) {
    const int i = -(low + ID / 32);  // BOUNDS index_negated
    out[ID] = i < 0 ? 0 : a[i % n];
}
__global__ void index_wide_too_late(const int* a, int* out, int n, int w) {
    const long long i = (ID + 70000) * w;  // BOUNDS index_wide_too_late
    out[ID] = i < 0 ? 0 : a[i % n];
}
__global__ void index_shared_offset(int* out, int n, int w) {
    __shared__ int s[64];
    s[threadIdx.x] = ID;
    __syncthreads();
    const int k = (ID + 1) * w;  // BOUNDS index_shared_offset
    out[ID] = s[(k % 64 + 64) % 64] + n;
}

// ---- data, and indices in wider types ---------------

__global__ void data_hash_is_data(int* out, int key) { out[ID] = (ID + 1) * key + 12345; }
__global__ void data_checksum(const int* a, int* out, int n) {
    int sum = 0x7ffffff0;
    for (int i = 0; i < n; ++i) sum = sum * 31 + a[i];
    out[ID] = sum + 0x7ffffff0;
}
__global__ void data_overflows_beside_index(const int* a, int* out, int n, int big) {
    int s = big;
    for (int k = 0; k + 1 < n; ++k) s += a[k + 1] + big;
    out[ID] = s;
}
__global__ void data_wide(const int* a, int* out, int n, int w) { out[ID] = a[(long long)(ID + 70000) * w % n]; }
__global__ void data_size_t(const int* a, int* out, int n, int w) {
    const size_t i = size_t(ID + 70000) * w;
    out[ID] = a[i % n];
}
__global__ void data_unsigned_hash(const int* a, int* out, int n, unsigned k) {
    const unsigned h = (ID + 1) * k;
    out[ID] = a[h % n];
}
__global__ void data_random(int* out, int seed) {
    int x = seed + ID;
    for (int k = 0; k < 8; ++k) x = x * 1103515245 + 12345;
    out[ID] = x >> 16 & 0x7fff;
}
__global__ void data_unsigned_wraps(const int* a, int* out, int n) {
    const unsigned i = unsigned(ID) - 5u;
    if (i < unsigned(n)) out[ID] = a[i];
}
__global__ void data_just_fits(const char* a, int* out, int n, int w) {
    const int i = 46340 * 46340 + ID;
    out[ID] = a[i % n] + w;
}
__global__ void data_product_of_data(const int* a, const int* b, int* out, int n) {
    int s = 0;
    for (int i = ID; i < n; i += 64) s += (a[i] + 100000) * (b[i] + 100000);
    out[ID] = s;
}
__global__ void data_xorshift(int* out, int seed) {
    unsigned x = seed + ID;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    out[ID] = int(x % 100);
}
__global__ void data_fixed_point(const int* a, int* out, int scale) {
    const int v = a[ID] + 70000;
    out[ID] = v * scale >> 8;
}
__global__ void data_stride_in_range(const int* a, int* out, int n) {
    for (int i = ID; i < n; i += 1 << 20) out[ID] = a[i];
}
__global__ void data_max_of_sums(const int* a, int* out, int n, int big) {
    int best = 0;
    for (int i = 0; i < n; ++i) best = max(best, a[i] + big * 3);
    out[ID] = best;
}
__global__ void data_time_difference(int* out, int start) {
    const int now = 0x7fffffff, then = start - ID;
    out[ID] = now - then;
}
int main(int argc, char** argv) {
#define Z zeros<int>
    const Case cases[] = {
        {"bounds", "index_wraps_to_zero", [](int) { index_wraps_to_zero<<<1, 64>>>(Z(64), Z(64), 65536); }},
        {"bounds", "index_negative_is_skipped",
         [](int) { index_negative_is_skipped<<<1, 64>>>(zeros<char>(4096), Z(64), 4096, 1000003); }},
        {"bounds", "index_subscript", [](int n) { index_subscript<<<1, 64>>>(Z(n), Z(64), n, 50000); }},
        {"bounds", "index_positive_modulo",
         [](int n) { index_positive_modulo<<<1, 64>>>(Z(n), Z(64), n, 1000000); }},
        {"bounds", "index_helper", [](int n) { index_helper<<<1, 64>>>(Z(n), Z(64), n, 50000); }},
        {"bounds", "index_abs", [](int n) { index_abs<<<1, 64>>>(Z(n), Z(64), n, 1000000007); }},
        {"bounds", "index_midpoint",
         [](int n) { index_midpoint<<<1, 64>>>(Z(n), Z(64), n, 1 << 30, (1 << 30) + 77); }},
        {"bounds", "index_pointer_sum", [](int n) { index_pointer_sum<<<1, 64>>>(Z(n), Z(64), n, 40000); }},
        {"bounds", "index_accumulates", [](int n) { index_accumulates<<<1, 64>>>(Z(n), Z(64), n, 900000000); }},
        {"bounds", "index_view",
         [](int n) {
             index_view<<<1, 64>>>({Z(n), 40000, n}, Z(64));
         }},
        {"bounds", "index_writes", [](int n) { index_writes<<<1, 64>>>(Z(n), n, 100000000); }},
        {"bounds", "index_volume", [](int n) { index_volume<<<1, 64>>>(Z(n), Z(64), n, 9000, 5000); }},
        {"bounds", "index_negated", [](int n) { index_negated<<<1, 64>>>(Z(n), Z(64), n, -2147483647 - 1); }},
        {"bounds", "index_wide_too_late", [](int n) { index_wide_too_late<<<1, 64>>>(Z(n), Z(64), n, 50000); }},
        {"bounds", "index_shared_offset", [](int n) { index_shared_offset<<<1, 64>>>(Z(64), n, 1103515245); }},
        {"right", "data_hash_is_data", [](int) { data_hash_is_data<<<1, 64>>>(Z(64), 1103515245); }},
        {"right", "data_checksum", [](int n) { data_checksum<<<1, 64>>>(Z(n), Z(64), n); }},
        {"right", "data_overflows_beside_index",
         [](int n) { data_overflows_beside_index<<<1, 64>>>(Z(n), Z(64), n, 2000000000); }},
        {"right", "data_wide", [](int n) { data_wide<<<1, 64>>>(Z(n), Z(64), n, 50000); }},
        {"right", "data_size_t", [](int n) { data_size_t<<<1, 64>>>(Z(n), Z(64), n, 50000); }},
        {"right", "data_unsigned_hash", [](int n) { data_unsigned_hash<<<1, 64>>>(Z(n), Z(64), n, 2654435761u); }},
        {"right", "data_random", [](int) { data_random<<<1, 64>>>(Z(64), 42); }},
        {"right", "data_unsigned_wraps", [](int n) { data_unsigned_wraps<<<1, 64>>>(Z(n), Z(64), n); }},
        {"right", "data_just_fits", [](int n) { data_just_fits<<<1, 64>>>(zeros<char>(n), Z(64), n, 1); }},
        {"right", "data_product_of_data", [](int n) { data_product_of_data<<<1, 64>>>(Z(n), Z(n), Z(64), n); }},
        {"right", "data_xorshift", [](int) { data_xorshift<<<1, 64>>>(Z(64), 42); }},
        {"right", "data_fixed_point", [](int) { data_fixed_point<<<1, 64>>>(Z(64), Z(64), 40000); }},
        {"right", "data_stride_in_range", [](int n) { data_stride_in_range<<<1, 64>>>(Z(n), Z(64), n); }},
        {"right", "data_max_of_sums", [](int n) { data_max_of_sums<<<1, 64>>>(Z(n), Z(64), n, 1500000000); }},
        {"right", "data_time_difference", [](int) { data_time_difference<<<1, 64>>>(Z(64), -1000); }},
    };
    return choose(cases, argc, argv);
}
