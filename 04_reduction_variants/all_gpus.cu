// 04_all_gpus - what do more GPUs buy, and how do they meet?
//
// reduction_variants.cu ends where one GPU reads as fast as its memory can (the row `read only`).
// More GPUs have more memories, so each takes a share of the ints. Then each has a sum, and these
// must meet:
//   host_adds    each GPU adds its share, the host adds the sums   slow: waits for each copy
//   all_reduce   then NCCL adds, if it was found, on every GPU     slow: a second kernel each
//   peer_adds    all blocks of all GPUs add to one GPU's word      needs peer access
//
//   04_all_gpus --n 1073741824 --only host_adds
//   nvcc -std=c++17 -arch=native -Icommon 04_reduction_variants/all_gpus.cu
//       common/lab.cpp common/write_file.cpp -o all_gpus
// With NCCL: also -DLAB_NCCL and -lnccl.
#include <memory>
#include "lab.cuh"
#ifdef LAB_NCCL
#include <nccl.h>
void check_nccl(ncclResult_t status) {
    if (status == ncclSuccess) return;
    std::fprintf(stderr, "NCCL: %s\n", ncclGetErrorString(status));
    std::exit(lab::system_error);
}
#endif

constexpr int threads = 512;  // of a block
constexpr int warp = 32;      // threads of a warp, called its lanes
constexpr unsigned all_lanes = 0xffffffff;
constexpr int pack_size = sizeof(int4) / sizeof(int);  // ints that one load brings
constexpr int loads = 4;                               // in flight before the first is used
static_assert(threads <= warp * warp, "one warp must be able to add the sums of all warps");

// ---- CPU reference ------------------------------------------------------------------------------

int cpu_reference(const std::vector<int>& in) {
    unsigned sum = 0;  // modulo 2^32; C++ does not promise that for int
    for (const int x : in) sum += x;
    return int(sum);
}

// ---- what each GPU does -------------------------------------------------------------------------

// The last rung of reduction_variants.cu, with its helpers.
__device__ int64_t global_index() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }

__device__ unsigned reduce_warp(unsigned sum) {  // lane 0 has the result
    for (int offset = warp / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(all_lanes, sum, offset);
    return sum;
}
__device__ unsigned reduce_block(unsigned sum) {  // thread 0 has the result
    __shared__ unsigned of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    sum = reduce_warp(sum);
    if (tid % warp == 0) of_warp[tid / warp] = sum;
    __syncthreads();  // all warps have stored their sums
    if (tid < warp) sum = reduce_warp(tid < warps ? of_warp[tid] : 0);
    return sum;
}
__device__ unsigned add_pack(unsigned sum, int4 pack) {
    return sum + pack.x + pack.y + pack.z + pack.w;
}
// The sum of this thread's share, by 16-byte loads, all of a tile's in flight at once.
__device__ unsigned wide_sum(const int* in, int64_t n) {
    const int4* packs = reinterpret_cast<const int4*>(in);
    const int64_t count = n / pack_size, tile = int64_t(loads) * blockDim.x;
    const int tid = threadIdx.x;
    unsigned sum = 0;
    for (int64_t first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
        if (first + tile <= count) {
            int4 pack[loads];
#pragma unroll
            for (int k = 0; k < loads; ++k) pack[k] = packs[first + k * blockDim.x + tid];
#pragma unroll
            for (int k = 0; k < loads; ++k) sum = add_pack(sum, pack[k]);
        } else {
            for (int64_t i = first + tid; i < count; i += blockDim.x) sum = add_pack(sum, packs[i]);
        }
    }
    const int64_t tail = count * pack_size + global_index();
    return tail < n ? sum + in[tail] : sum;
}

// Every block adds to one word, and one clears the next launch's.
__global__ void atomic_add(const int* in, int* result, int* next, int64_t n) {
    const unsigned sum = reduce_block(wide_sum(in, n));
    if (threadIdx.x != 0) return;
    atomicAdd(result, sum);
    if (blockIdx.x == 0) *next = 0;
}

// ---- the rungs, slow to fast --------------------------------------------------------------------

// One GPU's share of the work; made and freed while that GPU is the current one.
struct Share {
    Share(const lab::Sample& sample, const int* host, int64_t size)
        : in(std::vector<int>(host, host + size)), flush(sample.properties()) {}
    lab::DeviceArray<int> in, sums{std::vector<int>(2)};  // two sums that take turns
    lab::CacheFlush flush;                                // of that GPU's L2
};

// Where the GPUs meet, in the first one's memory. A sum's upper half is the sum, its lower half the
// number of blocks that have added to it.
struct Meeting {
    unsigned begun = 0;                   // the number of the launch that the first GPU has begun
    unsigned long long sums[2] = {0, 0};  // they take turns
};

struct Job {  // what a launch needs
    const lab::Sample& sample;
    int64_t n;
    int want;                                         // the CPU's result
    std::vector<std::unique_ptr<Share>> shares = {};  // one a GPU
    std::vector<int> totals = {};                     // the result, or that of each GPU
    unsigned number = 0;                              // of this launch
    lab::Event start = {};                            // the clock has started
    lab::DeviceArray<Meeting> meeting{std::vector<Meeting>(1)};
#ifdef LAB_NCCL
    std::vector<ncclComm_t> comms = {};
#endif

    int gpus() const { return int(shares.size()); }
    int* sum(int gpu) const { return shares[gpu]->sums.get() + number % 2; }
    int* next(int gpu) const { return shares[gpu]->sums.get() + (number + 1) % 2; }
};

// Every GPU adds its share except the last `dropped` elements. A launch does not wait, so the GPUs
// work at the same time. No GPU starts before the clock, which the current GPU starts.
void add_shares(Job& job, int dropped = 0) {
    ++job.number;
    job.start.record();
    for (int gpu = 0; gpu < job.gpus(); ++gpu) {
        const lab::DeviceArray<int>& in = job.shares[gpu]->in;
        CHECK(cudaSetDevice(gpu));
        job.start.hold_back();
        const int blocks = job.sample.blocks_to_fill(atomic_add, threads);
        atomic_add<<<blocks, threads>>>(in.get(), job.sum(gpu), job.next(gpu), in.size() - dropped);
    }
    CHECK(cudaSetDevice(job.sample.device()));
}

int copied(const int* word) {  // waits for the kernel
    int value;
    CHECK(cudaMemcpy(&value, word, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

// Copies the sums of GPU `first` and those after it, and adds them.
int total_from(const Job& job, int first) {
    unsigned total = 0;
    for (int gpu = first; gpu < job.gpus(); ++gpu) {
        CHECK(cudaSetDevice(gpu));
        total += copied(job.sum(gpu));
    }
    CHECK(cudaSetDevice(job.sample.device()));
    return int(total);
}

void launch_host_adds(Job& job) {
    add_shares(job);
    job.totals = {total_from(job, 0)};
}

#ifdef LAB_NCCL
// The GPUs add among themselves, over NVLink if there is one, and the host does not wait.
void launch_all_reduce(Job& job) {
    add_shares(job);
    check_nccl(ncclGroupStart());
    for (int gpu = 0; gpu < job.gpus(); ++gpu)
        check_nccl(ncclAllReduce(job.sum(gpu), job.sum(gpu), 1, ncclInt, ncclSum, job.comms[gpu],
                                 nullptr));
    check_nccl(ncclGroupEnd());
}
#endif

// One kernel from start to end. The first GPU's kernel says when it has begun. The others wait for
// that by themselves, because a start after another GPU's event takes longer. All blocks of
// all GPUs add to one word (hence _system), and the first GPU's block 0 stays until `blocks` have.
__global__ void peer_add(const int* in, Meeting* meeting, unsigned launch, bool first,
                         unsigned blocks, int64_t n) {
    volatile unsigned* const begun = &meeting->begun;
    if (threadIdx.x == 0) {
        if (first && blockIdx.x == 0) *begun = launch;
        while (!first && *begun != launch) {}
    }
    __syncthreads();  // the launch has begun
    const unsigned sum = reduce_block(wide_sum(in, n));
    if (threadIdx.x != 0) return;
    unsigned long long* const total = &meeting->sums[launch % 2];
    atomicAdd_system(total, static_cast<unsigned long long>(sum) << 32 | 1);
    if (!first || blockIdx.x != 0) return;
    meeting->sums[(launch + 1) % 2] = 0;
    const volatile unsigned long long* const seen = total;
    while (unsigned(*seen) != blocks) {}
}
// (All GPUs hold as many blocks as the first.)
void launch_peer_adds(Job& job) {
    ++job.number;
    const int blocks = job.sample.blocks_to_fill(peer_add, threads);
    for (int gpu = 0; gpu < job.gpus(); ++gpu) {
        const lab::DeviceArray<int>& in = job.shares[gpu]->in;
        CHECK(cudaSetDevice(gpu));
        peer_add<<<blocks, threads>>>(in.get(), job.meeting.get(), job.number, gpu == 0,
                                      blocks * job.gpus(), in.size());
    }
    CHECK(cudaSetDevice(job.sample.device()));
}

// Lets every GPU use the first one's memory; false if one cannot.
bool reach_the_first(int gpus) {
    int can = 1;
    for (int gpu = 1; can && gpu < gpus; ++gpu) {
        CHECK(cudaDeviceCanAccessPeer(&can, gpu, 0));
        CHECK(cudaSetDevice(gpu));
        if (can) CHECK(cudaDeviceEnablePeerAccess(0, 0));
    }
    CHECK(cudaSetDevice(0));
    return can;
}

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// The index of a share's last element, taken for the number of its elements: each GPU drops one.
void launch_lost_element(Job& job) {
    add_shares(job, 1);
    job.totals = {total_from(job, 0)};
}

// "The first GPU is the current one, so its sum is here already": no, each GPU has only its own.
void launch_forgotten_gpu(Job& job) {
    add_shares(job);
    job.totals = {total_from(job, 1)};
}

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> variants[] = {
    {"host_adds", "every GPU adds up its share, and the host adds", launch_host_adds},
#ifdef LAB_NCCL
    {"all_reduce", "every GPU adds up its share, then ncclAllReduce", launch_all_reduce},
#endif
    {"peer_adds", "the GPUs' kernels add to one word and wait", launch_peer_adds},
};
constexpr lab::Variant<Job> twins[] = {
    {"lost_element", "each GPU drops the last element of its share", launch_lost_element},
    {"forgotten_gpu", "the sum of the first GPU is not added", launch_forgotten_gpu},
};

void prepare(Job& job) {
    job.totals.clear();
    for (int gpu = 0; gpu < job.gpus(); ++gpu) {
        CHECK(cudaSetDevice(gpu));
        job.shares[gpu]->flush.fill_l2();
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaSetDevice(job.sample.device()));
}

// The result is where the launch left it: at the host, in the meeting's word, or on every GPU.
void check(Job& job, lab::Row& row) {
    const auto* total = reinterpret_cast<const int*>(&job.meeting.get()->sums[job.number % 2]);
    if (row.variant == "peer_adds") job.totals = {copied(total + 1)};  // its upper half
    if (job.totals.empty())
        for (int gpu = 0; gpu < job.gpus(); ++gpu) job.totals.push_back(copied(job.sum(gpu)));
    int got = job.want;
    for (const int total : job.totals)
        if (total != job.want) got = total;
    row.result = lab::with_commas(got);
    row.bytes = double(job.n) * sizeof(int);
    row.wrong = got == job.want ? "" : lab::wanted(got, job.want);
}

int main(int argc, char** argv) {
    lab::Sample sample("04_all_gpus", "What do more GPUs buy, and how do they meet?");
    sample.defaults(lab::gpu ? 10'000'000 : 100'003, 0, 0, "elements",
                    "blocks on each GPU (default: fill it once)");
    sample.variants(variants);
    sample.twins(twins);
    sample.slow("all_reduce");  // NCCL takes seconds to set up
    sample.start(argc, argv);
    int gpus = 0;
    CHECK(cudaGetDeviceCount(&gpus));
    if (sample.wants("peer_adds") && !reach_the_first(gpus))
        sample.leave_out("peer_adds", "not every GPU can reach the first one's memory",
                         "--only host_adds");
    const int64_t n = sample.n();
    sample.require_memory(2.0 * sizeof(int));
    std::vector<int> in(n);
    for (int64_t i = 0; i < n; ++i)  // never 0
        in[i] = int(lab::random_bits(sample.seed(), i) % 1000) * 2 - 999;

    sample.new_table(
        lab::text("sum of %s ints, number of GPUs: %d", lab::with_commas(n).c_str(), gpus));
    sample.limit_row(lab::Limit::read, n * sizeof(int));
    Job job{sample, n, cpu_reference(in)};
    for (int gpu = 0; gpu < gpus; ++gpu) {
        const int64_t from = n * gpu / gpus, to = n * (gpu + 1) / gpus;
        CHECK(cudaSetDevice(gpu));
        job.shares.push_back(std::make_unique<Share>(sample, in.data() + from, to - from));
    }
    CHECK(cudaSetDevice(sample.device()));
#ifdef LAB_NCCL
    if (sample.wants("all_reduce")) job.comms.resize(gpus);
    if (!job.comms.empty()) check_nccl(ncclCommInitAll(job.comms.data(), gpus, nullptr));
#endif
    sample.rows(job, variants, prepare, check);
    sample.rows(job, twins, prepare, check);
#ifdef LAB_NCCL
    for (ncclComm_t comm : job.comms) check_nccl(ncclCommDestroy(comm));
#endif
    return sample.verdict();
}
