// timing.cuh - how lab.cuh's Sample measures time: CUDA events, a cold L2 cache, a check of the SMs' clock, and the
// limit's row. Samples include lab.cuh. You need not read this file to understand a sample.
#pragma once
#include <algorithm>
#include <memory>

#include "device.cuh"

namespace lab {

#ifndef CUDACPU
/// Does nothing: a launch of any kernel takes at least as long as a launch of this one.
__global__ void empty_kernel() {}

/// Reads `words` 16-byte words and stores nothing: the limit's row shows how fast this GPU reads. The values are
/// combined, and a store that is never executed keeps the compiler from removing the loads.
__global__ void read_only(const uint4* data, int64_t words, unsigned* never) {
    constexpr int at_once = 4;
    const int64_t tile = int64_t{at_once} * blockDim.x;
    unsigned all = 0;
    const auto add = [&all](const uint4& word) { all |= word.x ^ word.y ^ word.z ^ word.w; };
    for (int64_t first = blockIdx.x * tile; first < words; first += gridDim.x * tile) {
        if (first + tile <= words) {  // all loads are in flight before the first value is used
            uint4 word[at_once];
#pragma unroll
            for (int k = 0; k < at_once; ++k) word[k] = data[first + k * blockDim.x + threadIdx.x];
#pragma unroll
            for (const uint4& w : word) add(w);
        } else {
            for (int64_t i = first + threadIdx.x; i < words; i += blockDim.x) add(data[i]);
        }
    }
    if (all == 1 && never[0] == 1) never[0] = 2;
}

__device__ inline unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
/// Keeps the GPU busy for `ns` nanoseconds. Meanwhile the host submits its work, which then runs without waiting
/// for the host.
__global__ void spin(unsigned long long ns) {
    const unsigned long long start = nanoseconds();
    while (nanoseconds() - start < ns) {}
}
/// Stores the clock counter of SM 0 and the time. It is launched with one block for each SM, so one runs on SM 0.
__global__ void read_clocks(unsigned long long* clocks_and_ns) {
    unsigned sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    if (sm != 0) return;
    clocks_and_ns[0] = clock64();
    clocks_and_ns[1] = nanoseconds();
}
#endif

/// Fills the L2 cache of one device with other data, twice the size of the cache. It reads these data. If it wrote
/// them, the cache would have to write them back during the sample's run, which takes 3 us on an H200.
class CacheFlush {
public:
    explicit CacheFlush(const cudaDeviceProp& of)
        : sms_(of.multiProcessorCount), data_(2 * std::max(of.l2CacheSize, 1 << 20) / 16 * 16) {
        data_.poison();
    }
    void fill_l2() {
#ifndef CUDACPU
        auto* words = reinterpret_cast<uint4*>(data_.get());
        read_only<<<4 * sms_, 512>>>(words, data_.size() / 16, reinterpret_cast<unsigned*>(words));
#endif
    }

private:
    [[maybe_unused]] int sms_;
    DeviceArray<char> data_;
};

/// A reference to a callable object. (std::function would compile a dozen more functions for each caller, and make
/// the build of a sample slower.)
class Call {
public:
    template <class F>
    Call(const F& f) : called_(&f), call_([](const void* called) { (*static_cast<const F*>(called))(); }) {}
    void operator()() const { call_(called_); }

private:
    const void* called_;
    void (*call_)(const void*);
};

/// The work of the limit's row on the same number of bytes: read, copy within the device, or set.
enum class Limit { read, copy, set };

/// A Lab with a CUDA device, on which it measures times.
class Timing : public Lab {
public:
    using Lab::Lab;
    const cudaDeviceProp& properties() const { return properties_; }
    int device() const { return device_; }
    int sms() const { return properties_.multiProcessorCount; }
    bool shows_limit() const { return on_gpu() && wants_all(); }
    /// Prints the limit's row: the time to read, copy or set `bytes` bytes. Only a GPU's run without --only and
    /// --wrong has it. It allocates `bytes` bytes of device memory, twice as many for a copy.
    void limit_row([[maybe_unused]] Limit limit, [[maybe_unused]] int64_t bytes) {
        if (!shows_limit()) return;
#ifndef CUDACPU
        const int64_t size = std::max<int64_t>(16, bytes / 16 * 16);
        DeviceArray<char> from(size), to(limit == Limit::copy ? size : 16);
        from.poison();
        const int blocks = 4 * sms();
        Row row;
        row.variant = limit == Limit::read ? "read only" : limit == Limit::copy ? "copy" : "memset";
        row.kind = Kind::limit;
        row.bytes = (limit == Limit::copy ? 2.0 : 1.0) * static_cast<double>(size);
        const auto work = [&] {
            if (limit == Limit::copy)
                CHECK(cudaMemcpyAsync(to.get(), from.get(), from.bytes(), cudaMemcpyDeviceToDevice));
            if (limit == Limit::set) CHECK(cudaMemsetAsync(from.get(), 0, from.bytes()));
            const auto* words = reinterpret_cast<const uint4*>(from.get());
            auto* never = reinterpret_cast<unsigned*>(to.get());
            if (limit == Limit::read) read_only<<<blocks, 512>>>(words, size / 16, never);
        };
        row.ms = measure([]{}, work, []{}, !warm(), {__FILE__, __LINE__});
        Lab::row(row);
#endif
    }

protected:
    /// Queries the properties of the current device, and measures an empty launch, from which times are predicted.
    void use_device() {
        CHECK(cudaGetDevice(&device_));
        CHECK(cudaGetDeviceProperties(&properties_, device_));
#ifdef CUDACPU
        runs_on("the CPU device", false, ": results are valid, times and clocks are not");
#else
        int driver = 0, runtime = 0;
        CHECK(cudaDriverGetVersion(&driver));
        CHECK(cudaRuntimeGetVersion(&runtime));
        runs_on(text("%s: compute capability %d.%d, %d SMs, %s, L2 %s, driver %d.%d, runtime %d.%d",
                     properties_.name, properties_.major, properties_.minor, properties_.multiProcessorCount,
                     bytes_text(static_cast<double>(properties_.totalGlobalMem)).c_str(),
                     bytes_text(properties_.l2CacheSize).c_str(), driver / 1000, driver % 1000 / 10, runtime / 1000,
                     runtime % 1000 / 10),
                true);
        int memory_khz = 0, width_bits = 0, sm_khz = 0;
        CHECK(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, device_));
        CHECK(cudaDeviceGetAttribute(&width_bits, cudaDevAttrGlobalMemoryBusWidth, device_));
        CHECK(cudaDeviceGetAttribute(&sm_khz, cudaDevAttrClockRate, device_));
        highest_ghz_ = 1e-6 * sm_khz;
        const Time launch = measure([] {}, [] { empty_kernel<<<1, 32>>>(); }, [] {}, !warm(), {__FILE__, __LINE__});
        predict(launch, 2.0 * memory_khz * width_bits / 8);
#endif
    }

    /// Measures `work` in milliseconds with CUDA events. Before each run, untimed, `prepare` poisons the outputs,
    /// and `flush` fills the L2 cache with other data. `after` is called after each timed run. On a GPU an untimed
    /// run comes first. --repeats sets the number of timed runs. By default they continue until the median is known
    /// to 0.5 % or half a second has passed. As in NVIDIA's nvbench, a launch is queued after a spinning kernel, so
    /// that the host's delay is not timed. A run during which the SMs' clock was low is repeated, at most one in
    /// ten.
    Time measure(const Call& prepare, const Call& work, const Call& after, bool flush, Place place) {
        Event start, stop;
        const uint64_t first = random_bits(seed(), 0);
        double pipeline = not_timed;
        begin_times();
        for (int run = gpu ? -1 : 0; !enough_times(); ++run) {
            poison_byte =
                static_cast<unsigned char>(first_poison + (first + static_cast<uint64_t>(run + 1)) % poisons);
            prepare();
            before_a_run(flush);
            start.record();
            work();
            check_cuda(cudaGetLastError(), "a kernel launch", place.file, place.line);
            stop.record();
            after_a_run();
            check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize() for the kernels launched here", place.file,
                       place.line);
            const double ms = stop.ms_since(start);
            if (run >= 0) after();
            if (run < 0)
                pipeline = back_to_back(work, ms);
            else
                keep_time(ms, clock_ghz(), highest_ghz_);
        }
        return median_time(pipeline);
    }
    void release() {
        flush_.reset();
        if (clocks_) CHECK(cudaFreeHost(clocks_));
        clocks_ = nullptr;
    }

private:
#ifdef CUDACPU
    void before_a_run(bool) {}
    void after_a_run() {}
    double clock_ghz() const { return not_timed; }
    double back_to_back(const Call&, double) { return not_timed; }
#else
    // The launch is queued after the kernel that flushes the cache, or after one that spins for 20 us.
    void before_a_run(bool flush) {
        if (!clocks_) CHECK(cudaMallocHost(&clocks_, 4 * sizeof *clocks_));
        read_clocks<<<sms(), 1>>>(clocks_);
        if (!flush) {
            spin<<<1, 1>>>(20'000);
            return;
        }
        if (!flush_) flush_ = std::make_unique<CacheFlush>(properties_);
        flush_->fill_l2();
    }
    void after_a_run() { read_clocks<<<sms(), 1>>>(clocks_ + 2); }
    // The frequency of SM 0 during the last run.
    double clock_ghz() const {
        return static_cast<double>(clocks_[2] - clocks_[0]) / static_cast<double>(clocks_[3] - clocks_[1]);
    }
    // Milliseconds per launch when many launches are queued while a kernel spins. Not measured with --repeats 1,
    // nor for long kernels, where it equals the time of one launch.
    double back_to_back(const Call& work, double ms) {
        if (ms > 2 || repeats() == 1) return not_timed;
        const int launches = std::clamp(static_cast<int>(1 / ms), 4, 100);
        std::vector<double> times;
        Event start, stop;
        for (int batch = 0; batch < 5; ++batch) {
            spin<<<1, 1>>>(6000ull * launches);
            start.record();
            for (int k = 0; k < launches; ++k) work();
            stop.record();
            times.push_back(stop.ms_since(start) / launches);
        }
        return median(times);
    }
#endif
    cudaDeviceProp properties_;  // set by use_device()
    int device_ = 0;
    std::unique_ptr<CacheFlush> flush_;
    unsigned long long* clocks_ = nullptr;  // SM 0's clock counter and the time, before a run and after it
    double highest_ghz_ = 0;                // the SMs' highest clock rate, as the device reports it
};

}  // namespace lab
