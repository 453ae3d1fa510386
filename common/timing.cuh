// timing.cuh - how lab.cuh's Sample measures: CUDA events, a cold L2 cache, the SMs' clock, and the row of the
// limit. A sample includes lab.cuh, and its reader needs nothing from here.
#pragma once
#include <algorithm>
#include <memory>

#include "device.cuh"

namespace lab {

#ifndef CUDACPU
/// Does nothing. A launch takes at least as long as one of this kernel.
__global__ void empty_kernel() {}

/// Reads `words` 16-byte words and keeps nothing: how fast this GPU reads, for the limit's row. The values are
/// combined by xor, and the store that no value reaches keeps the compiler from dropping the loads.
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
/// Keeps the GPU busy for `ns` nanoseconds. The host submits its work in the meantime, and the work then runs
/// without waiting for the host.
__global__ void spin(unsigned long long ns) {
    const unsigned long long start = nanoseconds();
    while (nanoseconds() - start < ns) {}
}
/// Stores the clock counter of SM 0, and the time. One of the blocks, one for each SM, runs there.
__global__ void read_clocks(unsigned long long* clocks_and_ns) {
    unsigned sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    if (sm != 0) return;
    clocks_and_ns[0] = clock64();
    clocks_and_ns[1] = nanoseconds();
}
#endif

/// Fills one device's L2 cache with data of its own, twice the cache's size. It reads them: data that were written
/// would have to be written back when the sample's data replace them, which costs the sample 3 us on an H200.
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

/// A reference to something that can be called. (A std::function compiles a dozen functions more for each caller,
/// and whoever has edited a sample waits for the compiler.)
class Call {
public:
    template <class F>
    Call(const F& f) : called_(&f), call_([](const void* called) { (*static_cast<const F*>(called))(); }) {}
    void operator()() const { call_(called_); }

private:
    const void* called_;
    void (*call_)(const void*);
};

/// What the limit's row does with the same bytes: read them, copy them within the device, or set them.
enum class Limit { read, copy, set };

/// A Lab that knows its device and takes times on it.
class Timing : public Lab {
public:
    using Lab::Lab;
    const cudaDeviceProp& properties() const { return properties_; }
    int device() const { return device_; }
    int sms() const { return properties_.multiProcessorCount; }
    bool shows_limit() const { return on_gpu() && wants_all(); }
    /// Prints the row of the limit: `bytes` bytes that are only read, copied (read and written) or set. On a GPU
    /// alone, and only in a plain run. It needs device memory for as many bytes again, for a copy twice as many.
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
    /// Asks for the current device's properties, and measures what times are predicted from.
    void use_device() {
        CHECK(cudaGetDevice(&device_));
        CHECK(cudaGetDeviceProperties(&properties_, device_));
#ifdef CUDACPU
        runs_on("the CPU device", false, ": results count, times and clocks don't");
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

    /// Times `work` in milliseconds by CUDA events. Before each run, untimed, `prepare` poisons the outputs, and
    /// the L2 is filled with other data if `flush` says so; `after` is called after each run that counts. On a GPU
    /// there is one run more to warm up. The option --repeats says how many runs follow; without it they go on
    /// until the median is known to 0.5 % or half a second has passed. As in NVIDIA's nvbench, a launch is queued
    /// after a spinning kernel, so that the host's own delay is not timed, and a run during which the SMs' clock
    /// was low is repeated, at most one in ten.
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
    // A launch waits for the kernel that flushes the cache, or else for one that spins for 20 us.
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
    // Milliseconds a launch of many that are queued while a kernel spins. Not measured with --repeats 1, nor for
    // long kernels, for which it is the same.
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
    cudaDeviceProp properties_;  // use_device() asks for them
    int device_ = 0;
    std::unique_ptr<CacheFlush> flush_;
    unsigned long long* clocks_ = nullptr;  // SM 0's clock counter and the time, before a run and after it
    double highest_ghz_ = 0;                // of the SMs, as the device reports it
};

}  // namespace lab
