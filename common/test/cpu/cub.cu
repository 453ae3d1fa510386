// cub.cu - CUB's collectives and algorithms, compared with loops on the host, and what the hazard build says of
// them. Argument: the name of a test at the end.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include <cub/cub.cuh>
#include <cub/block/block_reduce.cuh>

#define EXPECT(condition)                                                                   \
    do                                                                                      \
        if (!(condition)) printf("wrong: line %d: %s\n", __LINE__, #condition), ++failures; \
    while (0)
int failures;

template <class T>
struct Array {  // managed memory
    T* data;
    size_t size;
    explicit Array(size_t n) : size(n) {
        cudaMallocManaged(&data, n * sizeof(T));
        for (size_t i = 0; i < n; ++i) data[i] = T();
    }
    Array(const std::vector<T>& from) : Array(from.size()) { std::copy(from.begin(), from.end(), data); }
    ~Array() { cudaFree(data); }
    bool is(const std::vector<T>& expected) const {
        cudaDeviceSynchronize();
        return std::equal(expected.begin(), expected.end(), data);
    }
    operator T*() const { return data; }
};
template <class T>
std::vector<T> random_numbers(size_t n, int below, int from = 0) {
    static std::mt19937 random(1);
    std::vector<T> all(n);
    for (T& x : all) x = T(from + int(random() % unsigned(below)));
    return all;
}

// ---- warps ----

template <int threads>
__global__ void warps(const int* in, int* sums, int* scans, int* most) {
    using Reduce = cub::WarpReduce<int, threads>;
    using Scan = cub::WarpScan<int, threads>;
    __shared__ typename Reduce::TempStorage reduce_storage[96 / threads];
    __shared__ typename Scan::TempStorage scan_storage[96 / threads];
    const int warp = threadIdx.x / threads, lane = threadIdx.x % threads;
    const int value = in[threadIdx.x], sum = Reduce(reduce_storage[warp]).Sum(value);
    const int largest = Reduce(reduce_storage[warp]).Reduce(value, cub::Max(), threads / 2);
    if (lane == 0) sums[warp] = sum, most[warp] = largest;
    int before, total, up_to;
    Scan(scan_storage[warp]).ExclusiveSum(value, before, total);
    Scan(scan_storage[warp]).InclusiveScan(value, up_to, cub::Sum());
    scans[threadIdx.x] =
        before + value == up_to && total == Scan(scan_storage[warp]).Broadcast(up_to, threads - 1) ? up_to : -1;
}
template <int threads>
void test_warps() {
    const auto in = random_numbers<int>(96, 1000, -500);
    Array<int> values(in), sums(96 / threads), scans(96), most(96 / threads);
    warps<threads><<<1, 96>>>(values, sums, scans, most);
    for (int w = 0; w < 96 / threads; ++w) {
        const auto from = in.begin() + w * threads;
        cudaDeviceSynchronize();
        EXPECT(sums[w] == std::accumulate(from, from + threads, 0));
        EXPECT(most[w] == *std::max_element(from, from + threads / 2));
        int sum = 0;
        for (int i = 0; i < threads; ++i) EXPECT(scans[w * threads + i] == (sum += from[i]));
    }
}

// ---- blocks: reductions and scans ----

template <class T, int X, int Y, int items>
__global__ void reduces(const T* in, T* out, int valid) {
    using Reduce = cub::BlockReduce<T, X, cub::BLOCK_REDUCE_WARP_REDUCTIONS, Y>;
    __shared__ typename Reduce::TempStorage storage;
    const int me = threadIdx.x + X * threadIdx.y;
    T values[items];
    for (int i = 0; i < items; ++i) values[i] = in[me * items + i];
    const T sum = Reduce(storage).Reduce(values, cuda::std::plus<>());
    __syncthreads();
    const T some = Reduce(storage).Reduce(me < valid ? values[0] : T(-1000), cub::Min(), valid);
    __syncthreads();
    const T one = Reduce(storage).Sum(values[0]);
    if (me == 0) out[0] = sum, out[1] = some, out[2] = one;
}
template <class T, int X, int Y, int items>
void test_reduces(int valid) {
    const auto in = random_numbers<T>(X * Y * items, 1000, -500);
    Array<T> values(in), out(3);
    reduces<T, X, Y, items><<<1, dim3(X, Y)>>>(values, out, valid);
    T least = in[0], sum = 0;
    for (int i = 0; i < valid; ++i) least = std::min(least, in[i * items]);
    for (int i = 0; i < X * Y; ++i) sum += in[i * items];
    EXPECT(out.is({std::accumulate(in.begin(), in.end(), T(0)), least, sum}));
}

struct Large {  // more than a shuffle of the CPU device takes
    long part[9];
    __host__ __device__ Large operator+(const Large& other) const {
        Large sum;
        for (int i = 0; i < 9; ++i) sum.part[i] = part[i] + other.part[i];
        return sum;
    }
};
__global__ void reduces_large(long* out) {
    __shared__ cub::BlockReduce<Large, 70>::TempStorage storage;
    Large mine;
    for (int i = 0; i < 9; ++i) mine.part[i] = threadIdx.x * (i + 1);
    const Large sum = cub::BlockReduce<Large, 70>(storage).Sum(mine);
    if (threadIdx.x == 0)
        for (int i = 0; i < 9; ++i) out[i] = sum.part[i];
}
void test_large() {
    Array<long> out(9);
    reduces_large<<<1, 70>>>(out);
    std::vector<long> expected;
    for (int i = 0; i < 9; ++i) expected.push_back(70 * 69 / 2 * (i + 1));
    EXPECT(out.is(expected));
}

struct Affine {  // x * a + b; the composition depends on the order
    unsigned a, b;
    bool operator==(const Affine&) const = default;
};
struct Compose {
    __host__ __device__ Affine operator()(const Affine& f, const Affine& g) const {
        return {f.a * g.a, f.b * g.a + g.b};
    }
};
__global__ void composes(const Affine* in, Affine* out) {
    using Reduce = cub::BlockReduce<Affine, 100>;
    using Scan = cub::BlockScan<Affine, 100>;
    __shared__ Reduce::TempStorage reduce_storage;
    __shared__ Scan::TempStorage scan_storage;
    Affine values[2] = {in[2 * threadIdx.x], in[2 * threadIdx.x + 1]};
    const Affine all = Reduce(reduce_storage).Reduce(values, Compose());
    if (threadIdx.x == 0) out[200] = all;
    Scan(scan_storage).InclusiveScan(values, values, Compose());
    out[2 * threadIdx.x] = values[0], out[2 * threadIdx.x + 1] = values[1];
}
void test_composes() {
    std::vector<Affine> in(200), expected(200);
    for (unsigned i = 0; i < 200; ++i) in[i] = {2 * i + 3, i};
    std::inclusive_scan(in.begin(), in.end(), expected.begin(), Compose());
    expected.push_back(expected.back());
    Array<Affine> values(in), out(201);
    composes<<<1, 100>>>(values, out);
    EXPECT(out.is(expected));
}

struct Running {  // the prefix of the next tile
    int total;
    __device__ int operator()(int tile) {
        const int before = total;
        total += tile;
        return before;
    }
};
template <int threads, int items>
__global__ void scans(const int* in, int* out, int* totals, int tiles) {
    using Scan = cub::BlockScan<int, threads>;
    __shared__ typename Scan::TempStorage storage;
    Running running{100};
    for (int tile = 0; tile < tiles; ++tile) {
        int values[items], sums[items];
        for (int i = 0; i < items; ++i) values[i] = in[(tile * threads + threadIdx.x) * items + i];
        Scan(storage).ExclusiveSum(values, sums, running);
        __syncthreads();
        for (int i = 0; i < items; ++i) out[(tile * threads + threadIdx.x) * items + i] = sums[i];
    }
    int value = in[threadIdx.x], most, total, again;
    Scan(storage).InclusiveScan(value, most, cub::Max(), total);
    __syncthreads();
    Scan(storage).InclusiveSum(value, again);
    __syncthreads();
    Scan(storage).ExclusiveScan(value, value, -7, cuda::maximum<>());
    totals[threadIdx.x] = threadIdx.x == threads - 1 ? total : 0;
    totals[threads + threadIdx.x] = most;
    totals[2 * threads + threadIdx.x] = again;
    totals[3 * threads + threadIdx.x] = value;
}
template <int threads, int items>
void test_scans() {
    const int tiles = 3, n = threads * items * tiles;
    const auto in = random_numbers<int>(n, 1000, -500);
    Array<int> values(in), out(n), totals(4 * threads);
    scans<threads, items><<<1, threads>>>(values, out, totals, tiles);
    std::vector<int> expected(n), most(threads), sums(threads), before(threads);
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), 100);
    EXPECT(out.is(expected));
    for (int i = 0; i < threads; ++i) {
        most[i] = *std::max_element(in.begin(), in.begin() + i + 1);
        sums[i] = std::accumulate(in.begin(), in.begin() + i + 1, 0);
        before[i] = i ? std::max(-7, most[i - 1]) : -7;
    }
    EXPECT(totals[threads - 1] == most[threads - 1]);
    EXPECT(std::equal(most.begin(), most.end(), totals.data + threads));
    EXPECT(std::equal(sums.begin(), sums.end(), totals.data + 2 * threads));
    EXPECT(std::equal(before.begin(), before.end(), totals.data + 3 * threads));
}

// ---- blocks: loads, stores, exchanges, sorting, histograms ----

template <int threads, int items, cub::BlockLoadAlgorithm load, cub::BlockStoreAlgorithm store>
__global__ void copies(const int* in, int* out, int* blocked, int n) {
    using Load = cub::BlockLoad<int, threads, items, load>;
    using Store = cub::BlockStore<int, threads, items, store>;
    __shared__ union {
        typename Load::TempStorage loading;
        typename Store::TempStorage storing;
    } storage;
    int values[items];
    Load(storage.loading).Load(in, values, n, -1);
    __syncthreads();
    for (int i = 0; i < items; ++i) blocked[threadIdx.x * items + i] = values[i];
    Store(storage.storing).Store(out, values, n);
}
template <int threads, cub::BlockLoadAlgorithm load, cub::BlockStoreAlgorithm store>
void test_copies(int n) {
    const int items = 3;
    auto in = random_numbers<int>(threads * items, 1000);
    Array<int> values(in), out(threads * items), blocked(threads * items);
    copies<threads, items, load, store><<<1, threads>>>(values, out, blocked, n);
    if (load != cub::BLOCK_LOAD_STRIPED) {
        std::vector<int> expected = in;
        std::fill(expected.begin() + n, expected.end(), -1);
        EXPECT(blocked.is(expected));
    }
    std::fill(in.begin() + n, in.end(), 0);
    EXPECT(out.is(in));
}

template <int threads, int items, class K>
__global__ void sorts(const K* in, K* out, K* striped, int* places, int first, int end) {
    using Sort = cub::BlockRadixSort<K, threads, items, int>;
    using KeysOnly = cub::BlockRadixSort<K, threads, items>;
    __shared__ typename Sort::TempStorage storage;
    __shared__ typename KeysOnly::TempStorage storage_of_keys;
    K keys[items], same[items];
    int values[items];
    for (int i = 0; i < items; ++i) {
        values[i] = threadIdx.x * items + i;
        keys[i] = same[i] = in[values[i]];
    }
    Sort(storage).Sort(keys, values, first, end);
    KeysOnly(storage_of_keys).SortDescendingBlockedToStriped(same);
    for (int i = 0; i < items; ++i) {
        out[threadIdx.x * items + i] = keys[i];
        places[threadIdx.x * items + i] = values[i];
        striped[i * threads + threadIdx.x] = same[i];
    }
}
template <int threads, int items, class K>
void test_sorts(const std::vector<K>& in, int first = 0, int end = 8 * sizeof(K)) {
    const int n = threads * items;
    Array<K> keys(in), out(n), striped(n);
    Array<int> places(n);
    sorts<threads, items><<<1, threads>>>(keys.data, out.data, striped.data, places.data, first, end);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    const auto part = [&](K k) {
        if constexpr (std::is_unsigned_v<K>)
            return k >> first & ((K(1) << (end - first - 1) << 1) - 1);
        else
            return k;
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return part(in[a]) < part(in[b]); });
    EXPECT(places.is(order));
    for (int i = 0; i < n; ++i) EXPECT(out[i] == in[order[i]]);
    auto down = in;
    std::sort(down.begin(), down.end(), std::greater<K>());
    EXPECT(striped.is(down));
}

__global__ void histograms(const unsigned char* in, unsigned* out) {
    using Histogram = cub::BlockHistogram<unsigned char, 64, 4, 10>;
    __shared__ Histogram::TempStorage storage;
    __shared__ unsigned counts[10];
    unsigned char values[4];
    for (int i = 0; i < 4; ++i) values[i] = in[threadIdx.x + i * 64];
    Histogram(storage).Histogram(values, counts);
    __syncthreads();
    if (threadIdx.x < 10) out[threadIdx.x] = counts[threadIdx.x];
}
void test_histograms() {
    const auto in = random_numbers<unsigned char>(256, 10);
    Array<unsigned char> values(in);
    Array<unsigned> out(10);
    histograms<<<1, 64>>>(values, out);
    std::vector<unsigned> expected(10);
    for (const int x : in) ++expected[x];
    EXPECT(out.is(expected));
}

// ---- arrays ----

template <class F>
void with_storage(F f) {  // both calls, as CUB demands
    size_t bytes = 0;
    EXPECT(f(nullptr, bytes) == cudaSuccess && bytes > 0);
    void* storage;
    cudaMalloc(&storage, bytes);
    EXPECT(f(storage, bytes) == cudaSuccess);
    cudaFree(storage);
}
struct Even {
    __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct Square {
    __host__ __device__ long operator()(int x) const { return long(x) * x; }
};
void test_arrays() {
    const int n = 3000;
    const auto in = random_numbers<int>(n, 1000, -500);
    Array<int> values(in), out(n), count(1);
    with_storage([&](void* s, size_t& b) { return cub::DeviceReduce::Sum(s, b, values.data, out.data, n); });
    EXPECT(out.is({std::accumulate(in.begin(), in.end(), 0)}));
    with_storage([&](void* s, size_t& b) { return cub::DeviceReduce::Max(s, b, values.data, out.data, n); });
    EXPECT(out.is({*std::max_element(in.begin(), in.end())}));
    with_storage([&](void* s, size_t& b) {
        return cub::DeviceReduce::Reduce(s, b, values.data, out.data, n, cub::Min(), 7);
    });
    EXPECT(out.is({std::min(7, *std::min_element(in.begin(), in.end()))}));
    Array<cub::KeyValuePair<int, int>> best(1);
    with_storage([&](void* s, size_t& b) { return cub::DeviceReduce::ArgMin(s, b, values.data, best.data, n); });
    cudaDeviceSynchronize();
    EXPECT(best[0].key == std::min_element(in.begin(), in.end()) - in.begin());
    Array<long> squares(1);
    cub::TransformInputIterator<long, Square, cub::CountingInputIterator<int>> counted(
        cub::CountingInputIterator<int>(1), Square());
    with_storage([&](void* s, size_t& b) { return cub::DeviceReduce::Sum(s, b, counted, squares.data, 100); });
    EXPECT(squares.is({338350}));

    std::vector<int> expected(n);
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0);
    with_storage([&](void* s, size_t& b) { return cub::DeviceScan::ExclusiveSum(s, b, values.data, out.data, n); });
    EXPECT(out.is(expected));
    std::inclusive_scan(in.begin(), in.end(), expected.begin());
    std::copy(in.begin(), in.end(), out.data);
    with_storage([&](void* s, size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, out.data, out.data, n); });
    EXPECT(out.is(expected));

    expected.clear();
    std::copy_if(in.begin(), in.end(), std::back_inserter(expected), Even());
    with_storage([&](void* s, size_t& b) {
        return cub::DeviceSelect::If(s, b, values.data, out.data, count.data, n, Even());
    });
    EXPECT(out.is(expected) && count.is({int(expected.size())}));

    for (const bool pairs : {false, true}) {
        Array<int> places(n), places_out(n);
        std::vector<int> order(n);
        std::iota(order.begin(), order.end(), 0);
        std::copy(order.begin(), order.end(), places.data);
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return pairs ? in[b] < in[a] : in[a] < in[b]; });
        with_storage([&](void* s, size_t& b) {
            return pairs ? cub::DeviceRadixSort::SortPairsDescending(s, b, values.data, out.data, places.data,
                                                                     places_out.data, n)
                         : cub::DeviceRadixSort::SortKeys(s, b, values.data, out.data, n);
        });
        if (pairs) EXPECT(places_out.is(order));
        cudaDeviceSynchronize();
        for (int i = 0; i < n; ++i) EXPECT(out[i] == in[order[i]]);
    }
    Array<float> keys(std::vector<float>{3, -1, 2.5f, -0.5f, 0}), other(5);
    cub::DoubleBuffer<float> buffer(keys, other);
    with_storage([&](void* s, size_t& b) { return cub::DeviceRadixSort::SortKeys(s, b, buffer, 5); });
    cudaDeviceSynchronize();
    EXPECT(buffer.Current() == other.data && other.is({-1, -0.5f, 0, 2.5f, 3}));
    Array<int> histogram(4);
    with_storage([&](void* s, size_t& b) {
        return cub::DeviceHistogram::HistogramEven(s, b, values.data, histogram.data, 5, -400, 400, n);
    });
    std::vector<int> bins(4);
    for (const int x : in)
        if (x >= -400 && x < 400) ++bins[(x + 400) / 200];
    EXPECT(histogram.is(bins));
}

// ---- mistakes ----

__global__ void storage_again(int* out) {  // no barrier between the two
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ Reduce::TempStorage storage;
    const int sum = Reduce(storage).Sum(1);                    // #first
    const int most = Reduce(storage).Reduce(sum, cub::Max());  // #second
    if (threadIdx.x == 0) out[0] = most;
}
__global__ void storage_after_barrier(int* out) {
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ Reduce::TempStorage storage;
    const int sum = Reduce(storage).Sum(1);
    __syncthreads();
    const int most = Reduce(storage).Reduce(sum, cub::Max());
    if (threadIdx.x == 0) out[0] = most;
}
__global__ void other_size(int* out) {
    __shared__ cub::BlockReduce<int, 256>::TempStorage storage;
    const int sum = cub::BlockReduce<int, 256>(storage).Sum(1);  // #size
    if (threadIdx.x == 0) out[0] = sum;
}
void other_stream(int* out) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    storage_after_barrier<<<1, 128>>>(out);
    size_t bytes = 1;
    cub::DeviceReduce::Sum(out, bytes, out, out + 1, 1, stream);  // #queued
    cudaDeviceSynchronize();
    cudaStreamDestroy(stream);
}

// RUN: plain,hazards all
// RUN: counters all
// SAYS-NOT: wrong:
// RUN: hazards LAB_ORDER={reverse,3} all
// RUN: hazards storage_after_barrier
// RUN: hazards storage_again
// STATUS: 1
// SAYS: race on
// SAYS: storage
// SAYS: @#second
// RUN: plain,hazards other_size
// STATUS: 1
// SAYS: a collective of CUB for another number of threads than the block has
// SAYS: @#size
// RUN: hazards other_stream
// STATUS: 1
// SAYS: race between streams
// SAYS: @#queued
int main(int, char** arguments) {
    const auto named = [&](const char* name) { return !strcmp(arguments[1], name); };
    if (named("all")) {
        test_warps<8>(), test_warps<16>(), test_warps<32>(), test_warps<1>();
        test_reduces<int, 32, 1, 1>(5), test_reduces<long, 128, 1, 4>(70), test_reduces<double, 20, 5, 2>(33);
        test_scans<64, 1>(), test_scans<100, 3>(), test_scans<16, 2>();
        using namespace cub;
        test_copies<64, BLOCK_LOAD_DIRECT, BLOCK_STORE_TRANSPOSE>(192),
            test_copies<64, BLOCK_LOAD_STRIPED, BLOCK_STORE_STRIPED>(150);
        test_copies<48, BLOCK_LOAD_WARP_TRANSPOSE, BLOCK_STORE_DIRECT>(141);
        test_copies<64, BLOCK_LOAD_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE>(190);
        test_sorts<64, 3>(random_numbers<int>(192, 50, -25)),
            test_sorts<32, 4>(random_numbers<unsigned>(128, 1 << 30), 3, 9);
        test_sorts<40, 2>(random_numbers<float>(80, 20, -10)),
            test_sorts<32, 2>(random_numbers<unsigned long long>(64, 1 << 30));
        auto zeros = random_numbers<float>(80, 3, -1);
        for (int i = 0; i < 80; i += 3) zeros[i] *= -0.0f;
        test_sorts<40, 2>(zeros);
        test_histograms(), test_large(), test_composes();
        test_arrays();
    } else {
        Array<int> out(64);
        if (named("storage_again")) storage_again<<<1, 128>>>(out);
        if (named("storage_after_barrier")) storage_after_barrier<<<1, 128>>>(out);
        if (named("other_size")) other_size<<<1, 128>>>(out);
        if (named("other_stream")) other_stream(out);
        cudaDeviceSynchronize();
    }
    return failures > 0 || cudaGetLastError() != cudaSuccess;
}
