// types.cu - labelled kernels: parts of words, structs, copies, and what programs build from them: tables, lists,
// tiles. At the end helpers that are called twice, what blocks tell each other, and what the host does meanwhile.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include "labelled.cuh"

template <class T>
T* iota(int n) {
    T* const host = new T[n];
    for (int i = 0; i < n; ++i) host[i] = T(i);
    T* const p = zeros<T>(n);
    cudaMemcpy(p, host, n * sizeof(T), cudaMemcpyHostToDevice);
    delete[] host;
    return p;
}
int B(int n) { return n / 64 + 1; }
#define ID int(blockIdx.x * blockDim.x + threadIdx.x)

// ---- less than a word ---------------

__global__ void char_neighbours(char* x, int n) {
    const int i = ID;
    if (i < n) x[i] = char(x[i] + i);
}
__global__ void chars_in_place(signed char* x, int n) {  // all in two words, where n is 5
    const int i = ID;
    if (i < n && x[(i + 2) % n] > x[i])  // RACE chars_in_place
        x[i] = x[(i + 2) % n];           // RACE chars_in_place
}
struct Halves {
    short low, high;
};
__global__ void short_halves(Halves* x, int n) {
    const int i = ID;
    if (i >= 2 * n) return;
    if (i % 2)
        x[i / 2].high = short(i);
    else
        x[i / 2].low = short(i + 5);
}
struct Bits {
    unsigned a : 4, b : 4, c : 24;
};
__global__ void bit_fields(Bits* x, int n) {
    const int i = ID;
    if (i >= 2 * n) return;
    if (i % 2)
        x[i / 2].a = unsigned(i) & 15;  // RACE bit_fields
    else
        x[i / 2].b = unsigned(i + 1) & 15;  // RACE bit_fields
}
__device__ void byte_most(unsigned char* p, unsigned char x) {  // by CAS on the word that the byte lies in
    unsigned* const word = (unsigned*)((size_t)p & ~size_t(3));
    const unsigned shift = 8 * unsigned((size_t)p & 3);
    unsigned old = *word, seen;
    do {
        seen = old;
        if ((unsigned char)(seen >> shift) >= x) return;
        old = atomicCAS(word, seen, (seen & ~(0xffu << shift)) | unsigned(x) << shift);
    } while (old != seen);
}
__global__ void bytes_by_cas(unsigned char* x, int n) {
    const int i = ID;
    if (i < n) byte_most(x + (i + 1) % n, (unsigned char)(i + 1));
}
__global__ void byte_looked_at(unsigned char* x, int n) {  // it is not what the CAS is done on
    const int i = ID;
    if (i < n && x[i % 2] <= i)  // RACE byte_looked_at
        byte_most(x + i % 2, (unsigned char)(i + 1));
}
__global__ void byte_handed_on(unsigned char* x, int n) {  // its own byte lies in the same word
    const int i = ID;
    if (i >= n) return;
    const unsigned char mine = (unsigned char)(x[i] + i + 1);  // RACE byte_handed_on
    byte_most(x + (i + 1) % n, mine);
}
struct Pair {
    unsigned short low, high;
};
__global__ void halves_by_cas(Pair* p, int n) {  // each half is read by itself
    const int i = ID;
    for (unsigned old, seen; i < n;) {
        const unsigned low = p->low, high = p->high;
        seen = low | high << 16;
        old = atomicCAS((unsigned*)p, seen, (low + 1) % 65536 | (high + 2) << 16);
        if (old == seen) return;
    }
}
__global__ void odd_rows(unsigned char* image, int width, int n) {  // two blocks write into one word
    const int x = threadIdx.x, y = blockIdx.x;
    if (x < width && y < n) image[y * width + x] = (unsigned char)(image[y * width + x] + x + y + 1);
}
__global__ void bytes_then_words(unsigned char* b, unsigned* out, int n) {  // of another warp
    const int t = threadIdx.x;
    if (t < 32)
        b[t] = (unsigned char)(t * 7 + n);  // RACE bytes_then_words
    else
        out[t - 32] = ((unsigned*)b)[(t - 32) / 4];  // RACE bytes_then_words
}
__global__ void words_then_bytes(unsigned* w, unsigned char* out, int n) {
    const int t = threadIdx.x;
    if (t < 32)
        w[t] = 0x01020304u * unsigned(t + n);  // RACE words_then_bytes
    else
        out[t - 32] = ((unsigned char*)w)[t - 32];  // RACE words_then_bytes
}
__global__ void vectors_overlap(int* x, int n) {
    const int i = ID;
    if (i >= n) return;
    *(int4*)(x + 4 * i) = make_int4(i, i + 1, i + 2, i + 3);    // RACE vectors_overlap
    *(int2*)(x + 4 * i + 4) = make_int2(100 + i, 200 + 2 * i);  // RACE vectors_overlap
}
union Either {
    int i;
    float f;
};
__global__ void union_no_barrier(float* out) {
    __shared__ Either u[1024];
    const int t = threadIdx.x, o = blockDim.x - 1 - t;
    u[t].i = t;       // RACE union_no_barrier
    out[t] = u[o].f;  // RACE union_no_barrier
}
__global__ void union_barrier(float* out) {
    __shared__ Either u[1024];
    const int t = threadIdx.x, o = blockDim.x - 1 - t;
    u[t].i = __float_as_int(float(t));
    __syncthreads();
    out[t] = u[o].f;
}

// ---- structs and copies ---------------

struct Body {
    float x, y, z, m;
};
__global__ void struct_and_mass(Body* b, int n) {
    const int i = ID;
    if (i >= n) return;
    const Body mine = {float(i), 1, 2, 3};
    b[i] = mine;                      // RACE struct_and_mass
    b[(i + 1) % n].m = float(i + 4);  // RACE struct_and_mass
}
__global__ void struct_copies(const Body* from, Body* to, int n) {
    const int i = ID;
    if (i < n) to[n - 1 - i] = from[i];
}
__global__ void struct_shifted(Body* b, int n) {
    const int i = ID;
    if (i < n - 1) b[i] = b[i + 1];  // RACE struct_shifted
}
__device__ Body heavier(Body a, Body b) { return b.m > a.m || (b.m == a.m && b.x > a.x) ? b : a; }
__global__ void struct_given(Body* b, int n) {  // to a function that is called twice, and so has code of its own
    const int i = ID;
    if (i < n - 1) b[i] = heavier(b[i], b[i + 1]);  // RACE struct_given
    if (i < n - 2) b[i] = heavier(b[i], b[i + 2]);  // RACE struct_given
}
__global__ void rows_overlap(int* to, const int* from, int n) {
    const int i = ID;
    if (i < n) memcpy(to + 4 * i, from + 8 * i, (i + 1 < n ? 5 : 4) * sizeof(int));  // RACE rows_overlap
}
__global__ void rows_apart(int* to, const int* from, int n) {
    const int i = ID;
    if (i >= n) return;
    memset(to + 4 * i, i, 4 * sizeof(int));
    memcpy(to + 4 * i, from + 8 * i, 3 * sizeof(int));
}
__global__ void memset_beside(int* to, int n) {
    const int i = ID;
    if (i >= n) return;
    if (i == 0)
        memset(to, 0, n * sizeof(int));  // RACE memset_beside
    else
        to[i] = i;  // RACE memset_beside
}
__global__ void memset_by_all(int* to, int n) { memset(to, 1, n * sizeof(int)); }  // EQUAL memset_by_all
__global__ void memcpy_past_the_end(int* to, const int* from, int n) {
    const int i = ID;
    if (i < n) memcpy(to + i, from + i, 2 * sizeof(int));  // BOUNDS memcpy_past_the_end
}
__global__ void carve(int n, float* out) {  // the second array begins in the first
    extern __shared__ char room[];
    float* const a = (float*)room;
    float* const b = (float*)(room + 60 * sizeof(float));
    const int t = threadIdx.x;
    a[t] = float(t);          // RACE carve
    b[t] = float(2 * t + n);  // RACE carve
    __syncthreads();
    out[t] = a[63 - t] + b[t];
}
__global__ void carve_right(int n, float* out) {
    extern __shared__ char room[];
    float* const a = (float*)room;
    double* const b = (double*)(room + 64 * sizeof(float));
    const int t = threadIdx.x;
    a[t] = float(t);
    b[t] = 2 * t + n;
    __syncthreads();
    out[t] = a[63 - t] + float(b[63 - t]);
}

// ---- tables and lists ---------------

struct Entry {
    int key, value;
};
__global__ void hash_insert(Entry* t, int size, const int* in, int n) {
    const int i = ID;
    if (i >= n) return;
    for (int s = in[i] * 7 % size, k = 0; k < size; ++k, s = (s + 1) % size) {
        const int was = atomicCAS(&t[s].key, 0, in[i] + 1);
        if (was == 0) {
            t[s].value = in[i] * in[i];
            return;
        }
    }
}
__global__ void hash_insert_look(Entry* t, int size, const int* in, int n, int* out) {
    const int i = ID;
    if (i >= n) return;
    int s = in[i] * 7 % size;
    for (int k = 0; k < size; ++k, s = (s + 1) % size)
        if (atomicCAS(&t[s].key, 0, in[i] + 1) == 0) {
            t[s].value = in[i] + 9;
            break;
        }  // RACE hash_insert_look
    const int other = (s + 1) % size;
    if (atomicAdd(&t[other].key, 0)) out[i] = t[other].value;  // RACE hash_insert_look
    const int before = (s + size - 1) % size;
    if (atomicAdd(&t[before].key, 0)) out[i] += t[before].value;  // RACE hash_insert_look
}
__global__ void hash_lookup(const Entry* t, int size, const int* in, int n, int* out) {
    const int i = ID;
    if (i >= n) return;
    for (int s = in[i] * 7 % size, k = 0; k < size; ++k, s = (s + 1) % size)
        if (t[s].key == in[i] + 1) {
            out[i] = t[s].value;
            return;
        }
}
template <bool Fence>
__device__ void push_and_walk(int* head, int* next, int n, int* out) {
    const int i = ID;
    if (i >= n) return;
    int seen = atomicAdd(head, 0), was;
    do {
        was = seen;
        next[i] = was;  // RACE list_walked_no_fence
        if (Fence) __threadfence();
        seen = atomicCAS(head, was, i + 1);
    } while (seen != was);
    int length = 0;
    if (Fence) __threadfence();
    for (int at = i + 1; at && length <= n; at = next[at - 1]) ++length;  // RACE list_walked_no_fence
    out[i] = length;
}
__global__ void list_walked(int* h, int* x, int n, int* o) { push_and_walk<true>(h, x, n, o); }
__global__ void list_walked_no_fence(int* h, int* x, int n, int* o) { push_and_walk<false>(h, x, n, o); }
__global__ void list_pop_plain(int* head, const int* next, int n, int* out) {
    const int i = ID;
    if (i >= n) return;
    const int at = *head;          // RACE list_pop_plain
    if (at) *head = next[at - 1];  // RACE list_pop_plain
    out[i] = at;
}
__global__ void by_data(const int* at, int n, int share, double* out) {
    const int i = ID;
    if (i < n) out[at[i] / share] = i;  // RACE by_data_twice
}
__global__ void counted_by_all(const int* in, int n, int* total) {  // the last to count reads, too
    __shared__ int mine;
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    for (int i = ID; i < n; i += int(gridDim.x * blockDim.x))
        if (in[i] % 2 == 0) atomicAdd(&mine, 1);  // RACE counted_by_all
    if (threadIdx.x == 0) {
        const int m = mine + 1;  // RACE counted_by_all
        atomicAdd(total, m);
    }
}

// ---- counts ---------------

template <bool Before, bool After>
__device__ void release_one(int* refs, int* part, int* out) {
    part[ID] = ID + 1;  // RACE refs_no_release refs_no_acquire
    if (Before) __threadfence();
    if (atomicSub(refs, 1) == 1) {
        if (After) __threadfence();
        int s = 0;
        for (int i = 0; i < int(gridDim.x * blockDim.x); ++i) s += part[i];  // RACE refs_no_release refs_no_acquire
        *out = s;
    }
}
__global__ void refs(int* r, int* p, int* o) { release_one<true, true>(r, p, o); }
__global__ void refs_no_release(int* r, int* p, int* o) { release_one<false, true>(r, p, o); }
__global__ void refs_no_acquire(int* r, int* p, int* o) { release_one<true, false>(r, p, o); }
// ---- tiles ---------------

template <bool Both>
__device__ void scan_in_place(int* x, int n) {
    for (int d = 1; d < n; d *= 2) {
        int add = 0;
        if (int(threadIdx.x) >= d && int(threadIdx.x) < n) add = x[threadIdx.x - d];  // RACE scan_one_barrier
        if (Both) __syncthreads();
        if (int(threadIdx.x) < n) x[threadIdx.x] += add;  // RACE scan_one_barrier
        __syncthreads();
    }
}
__global__ void scan_two_barriers(int* x, int n) { scan_in_place<true>(x, n); }
__global__ void scan_one_barrier(int* x, int n) { scan_in_place<false>(x, n); }
__global__ void bins_of_warps(const int* in, int n, int* out) {
    __shared__ int bins[8][4];
    for (int i = threadIdx.x; i < 32; i += blockDim.x) bins[i / 4][i % 4] = 0;
    __syncthreads();
    for (int i = ID; i < n; i += int(gridDim.x * blockDim.x)) atomicAdd(&bins[threadIdx.x / 32 % 8][in[i] % 4], 1);
    __syncthreads();
    if (threadIdx.x < 4) {
        int s = 0;
        for (int w = 0; w < 8; ++w) s += bins[w][threadIdx.x];
        atomicAdd(out + threadIdx.x, s);
    }
}
__global__ void bins_of_warps_plain(const int* in, int n, int* out) {
    __shared__ int bins[8][4];
    for (int i = threadIdx.x; i < 32; i += blockDim.x) bins[i / 4][i % 4] = 0;
    __syncthreads();
    for (int i = ID; i < n; i += int(gridDim.x * blockDim.x))
        bins[threadIdx.x / 32 % 8][in[i] % 4] += 1;  // RACE bins_of_warps_plain
    __syncthreads();
    if (threadIdx.x < 4) {
        int s = 0;
        for (int w = 0; w < 8; ++w) s += bins[w][threadIdx.x];
        atomicAdd(out + threadIdx.x, s);
    }
}
template <int Stage>
__device__ void stages(const int* in, int n, int* out) {  // a warp loads ahead
    __shared__ int room[2][32];
    const int lane = threadIdx.x % 32, steps = n / 8 + 3;
    if (threadIdx.x < 32) room[0][lane] = in[lane % n];
    __syncthreads();
    int s = 0;
    for (int k = 0; k < steps; ++k) {
        if (threadIdx.x < 32)
            room[(k + Stage) % 2][lane] = in[(k + 1 + lane) % n] + k;  // RACE stages_wrong_index
        else
            s += room[k % 2][31 - lane];  // RACE stages_wrong_index
        __syncthreads();
    }
    if (threadIdx.x >= 32) out[lane] = s;
}
__global__ void stages_right(const int* in, int n, int* o) { stages<1>(in, n, o); }
__global__ void stages_wrong_index(const int* in, int n, int* o) { stages<2>(in, n, o); }

// ---- called twice ---------------

template <bool Begin>
__device__ int block_sum(int x) {
    __shared__ int sums[32];
    if (Begin) __syncthreads();
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;  // RACE summed_twice_unsynchronised
    __syncthreads();
    int all = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) all += sums[w];  // RACE summed_twice_unsynchronised
    return all;
}
__global__ void summed_twice(const int* in, int n, int* out) {
    const int x = int(threadIdx.x) < n ? in[threadIdx.x] : 1, mean = block_sum<true>(x) / n;
    out[threadIdx.x] = block_sum<true>((x - mean) * (x - mean));
}
__global__ void summed_twice_unsynchronised(const int* in, int n, int* out) {
    const int x = int(threadIdx.x) < n ? in[threadIdx.x] : 1, mean = block_sum<false>(x) / n;
    out[threadIdx.x] = block_sum<false>((x - mean) * (x - mean));
}
template <int K>
__device__ int* room() {  // one for each K
    __shared__ int r[64];
    return r;
}
template <int First, int Second>
__global__ void rooms(int* out) {
    const int t = int(threadIdx.x);
    room<First>()[t] = t;
    __syncthreads();
    const int x = room<First>()[63 - t];  // RACE same_room
    room<Second>()[t] = 2 * x + 1;        // RACE same_room
    __syncthreads();
    out[t] = room<Second>()[63 - t] + x;
}

// ---- what blocks tell each other ---------------

template <bool Flag>
__global__ void checked_twice(int* lock, volatile int* ready, int* data, int* out) {
    if (threadIdx.x % 32) return;
    const int seen = Flag ? int(*ready) : int(*(int*)ready);  // RACE checked_plainly
    if (!seen && take(lock)) {
        __threadfence();
        if (!*ready) {
            *data = 99;
            __threadfence();
            *ready = 1;  // RACE checked_plainly
        }
        __threadfence();
        atomicExch(lock, 0);
    }
    if (!*ready) return;
    __threadfence();
    out[ID / 32] = *data;
}
template <bool All>
__global__ void blocks_meet(int* come, int* a, int* b) {
    const int i = ID, n = int(gridDim.x * blockDim.x);
    a[i] = i + 1;  // RACE fence_of_one
    if (!All && threadIdx.x == 0) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        if (All) __threadfence();
        atomicAdd(come, 1);
        for (int k = 0; k < patience && atomicAdd(come, 0) < int(gridDim.x); ++k) {}
        __threadfence();
    }
    __syncthreads();
    b[i] = a[n - 1 - i];  // RACE fence_of_one
}

// ---- what the host does meanwhile ---------------

__global__ void produce(int* a) { a[threadIdx.x] = int(threadIdx.x) + 100; }
__global__ void consume(const int* a, int* b) { b[threadIdx.x] = a[threadIdx.x]; }
struct Host {
    int *a = zeros<int>(64), *b = zeros<int>(64), *pinned = nullptr;
    cudaStream_t s, u;
    Host() {
        if (cudaMallocHost((void**)&pinned, 64 * sizeof(int)) != cudaSuccess) exit(4);
        memset(pinned, 0, 64 * sizeof(int));
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking);
        cudaDeviceSynchronize();
    }
};
int seen_by_host;
void nines(void* p) {
    for (int i = 0; i < 5; ++i) ((int*)p)[i] = 9;
}
void callback_and_copy(const Host& x, cudaStream_t copies) {
    cudaLaunchHostFunc(x.s, nines, x.pinned);                                          // HOST callback_beside_copy
    cudaMemcpyAsync(x.a, x.pinned, 64 * sizeof(int), cudaMemcpyHostToDevice, copies);  // HOST callback_beside_copy
}
void mapped(const Host& x, bool waits) {
    produce<<<1, 64, 0, x.s>>>(x.pinned);
    if (waits) cudaStreamSynchronize(x.s);
    seen_by_host += x.pinned[1];  // HOST mapped_read_early
}
void recorded_again(const Host& x, bool waits) {
    cudaEvent_t e;
    cudaEventCreate(&e);
    produce<<<1, 64, 0, x.s>>>(x.a);  // HOST recorded_elsewhere
    cudaEventRecord(e, x.s);
    if (waits) cudaStreamWaitEvent(x.u, e, 0);
    cudaEventRecord(e, cudaStreamPerThread);
    cudaStreamWaitEvent(x.u, e, 0);
    consume<<<1, 64, 0, x.u>>>(x.a, x.b);  // HOST recorded_elsewhere
}

int main(int argc, char** argv) {
    const Case cases[] = {
        {"right", "char_neighbours", [](int n) { char_neighbours<<<B(n), 64>>>(zeros<char>(n), n); }},
        {"race", "chars_in_place", [](int n) { chars_in_place<<<B(n), 64>>>(iota<signed char>(n), n); }},
        {"right", "short_halves", [](int n) { short_halves<<<B(2 * n), 64>>>(zeros<Halves>(n), n); }},
        {"race", "bit_fields", [](int n) { bit_fields<<<B(2 * n), 64>>>(zeros<Bits>(n), n); }},
        {"right", "bytes_by_cas", [](int n) { bytes_by_cas<<<B(n), 64>>>(zeros<unsigned char>(n + 3), n); }},
        {"race", "byte_looked_at", [](int) { byte_looked_at<<<4, 64>>>(zeros<unsigned char>(4), 200); }},
        {"race", "byte_handed_on", [](int n) { byte_handed_on<<<B(n), 64>>>(zeros<unsigned char>(n + 3), n); }},
        {"right", "halves_by_cas", [](int n) { halves_by_cas<<<B(n), 64>>>(zeros<Pair>(1), n); }},
        {"right", "odd_rows", [](int n) { odd_rows<<<n, 32>>>(zeros<unsigned char>(5 * n), 5, n); }},
        {"race", "bytes_then_words",
         [](int n) { bytes_then_words<<<1, 64>>>(zeros<unsigned char>(32), zeros<unsigned>(32), n); }},
        {"race", "words_then_bytes",
         [](int n) { words_then_bytes<<<1, 64>>>(zeros<unsigned>(32), zeros<unsigned char>(32), n); }},
        {"race", "vectors_overlap", [](int n) { vectors_overlap<<<B(n), 64>>>(zeros<int>(4 * n + 4), n); }},
        {"race", "union_no_barrier", [](int) { union_no_barrier<<<1, 64>>>(zeros<float>(64)); }},
        {"right", "union_barrier", [](int) { union_barrier<<<1, 64>>>(zeros<float>(64)); }},
        {"race", "struct_and_mass", [](int n) { struct_and_mass<<<B(n), 64>>>(zeros<Body>(n), n); }},
        {"right", "struct_copies", [](int n) { struct_copies<<<B(n), 64>>>(zeros<Body>(n), zeros<Body>(n), n); }},
        {"race", "struct_given", [](int n) { struct_given<<<B(n), 64>>>((Body*)iota<float>(4 * n), n); }},
        {"race", "struct_shifted", [](int n) { struct_shifted<<<B(n), 64>>>((Body*)iota<float>(4 * n), n); }},
        {"race", "rows_overlap", [](int n) { rows_overlap<<<B(n), 64>>>(zeros<int>(4 * n), iota<int>(8 * n), n); }},
        {"right", "rows_apart", [](int n) { rows_apart<<<B(n), 64>>>(zeros<int>(4 * n), iota<int>(8 * n), n); }},
        {"race", "memset_beside", [](int n) { memset_beside<<<B(n), 64>>>(zeros<int>(n), n); }},
        {"equal", "memset_by_all", [](int n) { memset_by_all<<<B(n), 64>>>(zeros<int>(n), n < 60 ? n : 60); }},
        {"bounds", "memcpy_past_the_end",
         [](int n) { memcpy_past_the_end<<<B(n), 64>>>(zeros<int>(n), iota<int>(n + 1), n); }},
        {"race", "carve", [](int n) { carve<<<1, 64, 124 * sizeof(float)>>>(n, zeros<float>(64)); }},
        {"right", "carve_right", [](int n) { carve_right<<<1, 64, 64 * 12>>>(n, zeros<float>(64)); }},
        {"right", "hash_then_look",
         [](int n) {
             Entry* t = zeros<Entry>(2 * n);
             int* in = iota<int>(n);
             hash_insert<<<B(n), 64>>>(t, 2 * n, in, n);
             hash_lookup<<<B(n), 64>>>(t, 2 * n, in, n, zeros<int>(n));
         }},
        {"race", "hash_insert_look",
         [](int n) { hash_insert_look<<<B(n), 64>>>(zeros<Entry>(n + 1), n + 1, iota<int>(n), n, zeros<int>(n)); }},
        {"right", "list_walked",
         [](int n) { list_walked<<<B(n), 64>>>(zeros<int>(1), zeros<int>(n), n, zeros<int>(n)); }},
        {"race", "list_walked_no_fence",
         [](int n) { list_walked_no_fence<<<B(n), 64>>>(zeros<int>(1), zeros<int>(n), n, zeros<int>(n)); }},
        {"race", "list_pop_plain",
         [](int n) {
             int* h = zeros<int>(1);
             cudaMemcpy(h, &n, 4, cudaMemcpyHostToDevice);
             list_pop_plain<<<B(n), 64>>>(h, iota<int>(n), n, zeros<int>(n));
         }},
        {"right", "by_data_once", [](int n) { by_data<<<B(n), 64>>>(iota<int>(n), n, 1, zeros<double>(n)); }},
        {"race", "by_data_twice", [](int n) { by_data<<<B(n), 64>>>(iota<int>(n), n, 2, zeros<double>(n)); }},
        {"race", "counted_by_all", [](int n) { counted_by_all<<<2, 64>>>(iota<int>(n), n, zeros<int>(1)); }},
        {"right", "refs",
         [](int n) {
             int *r = zeros<int>(1), all = B(n) * 64;
             cudaMemcpy(r, &all, sizeof all, cudaMemcpyHostToDevice);
             refs<<<B(n), 64>>>(r, zeros<int>(all), zeros<int>(1));
         }},
        {"race", "refs_no_release",
         [](int n) {
             int *r = zeros<int>(1), all = B(n) * 64;
             cudaMemcpy(r, &all, sizeof all, cudaMemcpyHostToDevice);
             refs_no_release<<<B(n), 64>>>(r, zeros<int>(all), zeros<int>(1));
         }},
        {"race", "refs_no_acquire",
         [](int n) {
             int *r = zeros<int>(1), all = B(n) * 64;
             cudaMemcpy(r, &all, sizeof all, cudaMemcpyHostToDevice);
             refs_no_acquire<<<B(n), 64>>>(r, zeros<int>(all), zeros<int>(1));
         }},
        {"right", "scan_two_barriers", [](int n) { scan_two_barriers<<<1, 256>>>(iota<int>(n), n); }},
        {"race", "scan_one_barrier", [](int n) { scan_one_barrier<<<1, 256>>>(iota<int>(n), n); }},
        {"right", "bins_of_warps", [](int n) { bins_of_warps<<<2, 64>>>(iota<int>(n), n, zeros<int>(4)); }},
        {"race", "bins_of_warps_plain",
         [](int n) { bins_of_warps_plain<<<1, 64>>>(iota<int>(n), n, zeros<int>(4)); }},
        {"right", "stages_right", [](int n) { stages_right<<<1, 64>>>(iota<int>(n), n, zeros<int>(32)); }},
        {"race", "stages_wrong_index",
         [](int n) { stages_wrong_index<<<1, 64>>>(iota<int>(n), n, zeros<int>(32)); }},
        {"right", "summed_twice", [](int n) { summed_twice<<<1, 64>>>(iota<int>(n), n, zeros<int>(64)); }},
        {"race", "summed_twice_unsynchronised",
         [](int n) { summed_twice_unsynchronised<<<1, 64>>>(iota<int>(n), n, zeros<int>(64)); }},
        {"right", "two_rooms", [](int) { rooms<1, 2><<<1, 64>>>(zeros<int>(64)); }},
        {"race", "same_room", [](int) { rooms<3, 3><<<1, 64>>>(zeros<int>(64)); }},
        {"right", "checked_twice",
         [](int) { checked_twice<true><<<3, 64>>>(zeros<int>(1), zeros<int>(1), zeros<int>(1), zeros<int>(6)); }},
        {"race", "checked_plainly",
         [](int) { checked_twice<false><<<3, 64>>>(zeros<int>(1), zeros<int>(1), zeros<int>(1), zeros<int>(6)); }},
        {"right", "fence_of_all",
         [](int) { blocks_meet<true><<<3, 64>>>(zeros<int>(1), zeros<int>(192), zeros<int>(192)); }},
        {"race", "fence_of_one",
         [](int) { blocks_meet<false><<<3, 64>>>(zeros<int>(1), zeros<int>(192), zeros<int>(192)); }},
        {"host", "callback_beside_copy",
         [](int) {
             const Host x;
             callback_and_copy(x, x.u);
         }},
        {"right", "callback_before_copy",
         [](int) {
             const Host x;
             callback_and_copy(x, x.s);
         }},
        {"host", "mapped_read_early", [](int) { mapped({}, false); }},
        {"right", "mapped_read", [](int) { mapped({}, true); }},
        {"host", "recorded_elsewhere", [](int) { recorded_again({}, false); }},
        {"right", "recorded_again", [](int) { recorded_again({}, true); }},
    };
    return choose(cases, argc, argv);
}
