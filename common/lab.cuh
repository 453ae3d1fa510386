// lab.cuh - what every sample needs and none teaches, as far as it has to do with CUDA: owning device arrays, the
// stopwatch, the description of the device. The kernels being taught are never here.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "error.cuh"
#include "lab.hpp"

namespace lab {

/// A line of a sample: what fails in here on its behalf is reported there.
struct Place {
    const char* file;
    int line;
};

/// An array in device memory, freed with its owner, which must be no global variable: CHECK resets the device
/// before the program ends. T must be trivially copyable.
template <class T>
class DeviceArray {
public:
    explicit DeviceArray(int64_t size, Place place = {__builtin_FILE(), __builtin_LINE()}) : size_(size) {
#ifdef CUDACPU  // its reports name the line of the allocation
        const cudaError_t status = cudaMalloc(&data_, bytes(), {place.file, place.line});
#else
        const cudaError_t status = cudaMalloc(&data_, bytes());
#endif
        check_cuda(status, "cudaMalloc", place.file, place.line);
    }
    explicit DeviceArray(const std::vector<T>& host, Place place = {__builtin_FILE(), __builtin_LINE()})
        : DeviceArray(static_cast<int64_t>(host.size()), place) {
        upload(host);
    }
    ~DeviceArray() { CHECK(cudaFree(data_)); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    T* get() const { return data_; }
    int64_t size() const { return size_; }
    size_t bytes() const { return static_cast<size_t>(size_) * sizeof(T); }
    void upload(const std::vector<T>& host) {
        CHECK(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice));
    }
    /// The first `count` elements, all by default.
    std::vector<T> download(int64_t count = -1) const {
        std::vector<T> host(static_cast<size_t>(count < 0 ? size_ : count));
        CHECK(cudaMemcpy(host.data(), data_, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }
    /// Fills it with poison_byte, single bytes with 0xff: a result that nobody wrote is seen.
    void poison() { CHECK(cudaMemsetAsync(data_, sizeof(T) == 1 ? 0xff : poison_byte, bytes())); }

private:
    T* data_ = nullptr;
    int64_t size_;
};

/// A CUDA event, destroyed with its owner.
class Event {
public:
    Event() { CHECK(cudaEventCreate(&event_)); }
    ~Event() { CHECK(cudaEventDestroy(event_)); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    void record() { CHECK(cudaEventRecord(event_)); }
    /// What the current device gets to do from here on waits for the event, which may be another device's.
    void hold_back() { CHECK(cudaStreamWaitEvent(nullptr, event_, 0)); }
    /// Milliseconds from `start` to this event; waits for this event.
    double ms_since(const Event& start) const {
        float ms = 0;
        CHECK(cudaEventSynchronize(event_));
        CHECK(cudaEventElapsedTime(&ms, start.event_, event_));
        return ms;
    }

private:
    cudaEvent_t event_ = nullptr;
};

#ifdef CUDACPU  // the CPU device's compiler says so
constexpr bool gpu = false;
#else
constexpr bool gpu = true;
#endif

#ifndef CUDACPU
/// Does nothing: what a launch takes at least.
__global__ void nothing() {}

/// Reads `words` 16-byte words and keeps nothing: how fast this GPU reads, for the limit's row. What the threads
/// read is folded together, and the store that no value reaches stops the compiler from dropping the loads.
template <bool streaming>
__global__ void read_only(const uint4* data, int64_t words, unsigned* never) {
    constexpr int at_once = 4;
    const int64_t tile = int64_t{at_once} * blockDim.x;
    unsigned fold = 0;
    const auto add = [&fold](const uint4& word) { fold |= word.x ^ word.y ^ word.z ^ word.w; };
    for (int64_t first = blockIdx.x * tile; first < words; first += gridDim.x * tile) {
        if (first + tile <= words) {  // all loads are on their way before the first is used
            uint4 word[at_once];
#pragma unroll
            for (int k = 0; k < at_once; ++k) {
                const uint4* p = data + first + k * blockDim.x + threadIdx.x;
                word[k] = streaming ? __ldcs(p) : *p;
            }
#pragma unroll
            for (const uint4& w : word) add(w);
        } else {
            for (int64_t i = first + threadIdx.x; i < words; i += blockDim.x) add(data[i]);
        }
    }
    if (fold == 1 && never[0] == 1) never[0] = 2;
}

__device__ inline unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
/// Keeps the GPU busy for so long: what the host sends in the meantime waits, and then runs without waiting for the host.
__global__ void hold(unsigned long long ns) {
    const unsigned long long start = nanoseconds();
    while (nanoseconds() - start < ns) {}
}
/// What SM 0 counts, in clocks, and the time. One of the blocks, one for each SM, is on it.
__global__ void read_clocks(unsigned long long* clocks_and_ns) {
    unsigned sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    if (sm != 0) return;
    clocks_and_ns[0] = clock64();
    clocks_and_ns[1] = nanoseconds();
}
#endif

/// The value below which so much of them lies, between two of them in proportion; `values` must not be empty.
inline double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const double at = share * static_cast<double>(values.size() - 1);
    const size_t below = static_cast<size_t>(at), above = std::min(below + 1, values.size() - 1);
    return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}
/// The middle value (the mean of the two middle ones).
inline double median(const std::vector<double>& values) { return quantile(values, 0.5); }

/// Does this answer to "how many devices?" say that no driver or no device is there? Else the call itself failed.
constexpr bool none_answers(cudaError_t answer) {
    switch (answer) {
        case cudaSuccess:
        case cudaErrorNoDevice:
        case cudaErrorInsufficientDriver:
        case cudaErrorStubLibrary:
        case cudaErrorInitializationError:
        case cudaErrorSystemNotReady:
        case cudaErrorSystemDriverMismatch:
        case cudaErrorCompatNotSupportedOnDevice:
        case cudaErrorUnknown: return true;
        default: return false;
    }
}

/// One run of one sample on one device.
class Sample : public Lab {
public:
    using Lab::Lab;

    /// Reads the command line, looks for a device, and says what the sample runs on.
    /// Ends with status 0 for --help, 2 for a bad command line, 77 without a device.
    void start(int argc, char** argv) {
        parse(argc, argv);
        int devices = 0;
        const cudaError_t status = cudaGetDeviceCount(&devices);
        if (devices == 0 && none_answers(status)) {
            std::fprintf(stderr,
                         "no CUDA device: %s (error %d)\nWhy not? Type make doctor. The CPU device runs the same "
                         "file: make run DEVICE=cpu\n",
                         cudaGetErrorString(status), static_cast<int>(status));
            std::exit(no_device);
        }
        check_cuda(status, "cudaGetDeviceCount", __FILE__, __LINE__);
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
        int clock_khz = 0, width_bits = 0;
        CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, device_));
        CHECK(cudaDeviceGetAttribute(&width_bits, cudaDevAttrGlobalMemoryBusWidth, device_));
        predict(time([] {}, [] { nothing<<<1, 32>>>(); }), 2.0 * clock_khz * width_bits / 8);
#endif
    }

    const cudaDeviceProp& properties() const { return properties_; }
    int device() const { return device_; }
    int sms() const { return properties_.multiProcessorCount; }
    /// As many blocks of this kernel as the GPU holds at once, at least one; --blocks overrides it.
    template <class Kernel>
    int blocks_to_fill(Kernel kernel, int threads, size_t shared_bytes = 0) const {
        if (blocks()) return blocks();
        int& per_sm = known_occupancy(reinterpret_cast<const void*>(kernel), threads, shared_bytes);
        if (per_sm == 0)
            CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, shared_bytes));
        return std::max(1, per_sm * sms());
    }

    /// Ends with status 2 if a run of n elements needs more device memory than is free: `per_element` bytes each,
    /// `fixed` bytes besides; or, on the CPU device, too much time, or more than at_most() says. `room` says what
    /// else is to be known of the size. Call it before the first allocation.
    void require_memory(double per_element, double fixed = 0, Room room = {}) const {
        size_t free = 0, total = 0;
        CHECK(cudaMemGetInfo(&free, &total));
        // The rest is for the L2's flush and the driver.
        const double bytes = 0.9 * static_cast<double>(free) - fixed;
        room.in_memory = static_cast<int64_t>(std::min(0x1p50, std::max(0.0, bytes) / per_element));
        room.words = bytes_text(static_cast<double>(n()) * per_element + fixed) + " of device memory, and " +
                     bytes_text(static_cast<double>(free)) + " are free";
        require_room(room);
    }

    /// Ends with status 2 if n elements, `per_thread` for each of --threads, make more blocks than a grid may have.
    void require_blocks(int per_thread = 1) const {
        constexpr int64_t most = std::numeric_limits<int>::max();
        const int64_t least_threads = ((n() - 1) / per_thread / most) + 1;
        if (threads() >= least_threads) return;
        int64_t enough = threads();
        while (enough < least_threads) enough *= 2;
        refuse("--n %lld with --threads %d makes more than %lld blocks, a grid's most; type --threads %lld or more",
               static_cast<long long>(n()), threads(), static_cast<long long>(most),
               static_cast<long long>(enough));
    }

    /// Times `work` in milliseconds, by CUDA events. Before each run, outside of the timed region, `prepare` poisons the
    /// outputs and the L2 is filled with other data (--warm leaves it). `work` does the resets that the kernel needs and
    /// launches it; nothing else is timed. On a GPU there is one run more to warm up, and runs follow until the median is
    /// known well enough or half a second is over, unless --repeats says how many. As NVIDIA's nvbench does, a launch
    /// waits behind a kernel, so that the host's own delay is not timed, and a run during which the SMs' clock was
    /// low is repeated, one in ten at most.
    using Call = std::function<void()>;
    Time time(const Call& prepare, const Call& work, Place place = {__builtin_FILE(), __builtin_LINE()}) {
        return time(prepare, work, !warm(), place);
    }
    /// The same, with the L2 filled or not whatever --warm says.
    Time time(const Call& prepare, const Call& work, bool flush,
              Place place = {__builtin_FILE(), __builtin_LINE()}) {
        std::vector<double> times;
        Event start, stop;
        const uint64_t first = random_bits(seed(), 0);
        Time result;
        double sum = 0;
        for (int run = on_gpu() ? -1 : 0; run < repeats() || (on_gpu() && !known(times, sum)); ++run) {
            poison_byte = static_cast<unsigned char>(0x60 + (first + static_cast<uint64_t>(run + 1)) % 16);
            prepare();
            watch_clocks(false);
            if (on_gpu() && flush) flush_l2();
            if (on_gpu() && !flush) wait_behind_a_kernel(20);
            start.record();
            work();
            check_cuda(cudaGetLastError(), "a kernel launch", place.file, place.line);
            stop.record();
            watch_clocks(true);
            check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize() for the kernels launched here", place.file,
                       place.line);
            const double ms = stop.ms_since(start);
            if (run == -1) {
                result.back_to_back = back_to_back(work, ms);
            } else if (throttled()) {
                --run;
            } else {
                times.push_back(ms);
                sum += ms;
            }
        }
        result.ms = median(times);
        if (on_gpu()) result.spread = 50 * (quantile(times, 0.75) - quantile(times, 0.25)) / result.ms;
        return result;
    }

    /// The row of the limit: the same bytes only read, copied within the device (read and written) or set.
    /// GPU only, as is the library's row. It takes device memory for as many bytes again, for a copy twice as many.
    enum class Limit { read, copy, set };
    bool shows_limit() const { return on_gpu() && wants_all(); }
    void limit_row([[maybe_unused]] Limit limit, [[maybe_unused]] int64_t bytes) {
        if (!shows_limit()) return;
#ifndef CUDACPU
        const int64_t size = std::max<int64_t>(16, bytes / 16 * 16);
        DeviceArray<char> from(size), to(limit == Limit::copy ? size : 16);
        from.poison();
        const int blocks = 4 * sms();
        const Time ms = time([] {}, [&] {
            if (limit == Limit::copy)
                CHECK(cudaMemcpyAsync(to.get(), from.get(), from.bytes(), cudaMemcpyDeviceToDevice));
            if (limit == Limit::set) CHECK(cudaMemsetAsync(from.get(), 0, from.bytes()));
            const auto* words = reinterpret_cast<const uint4*>(from.get());
            auto* never = reinterpret_cast<unsigned*>(to.get());
            if (limit == Limit::read && size <= 8 * int64_t(properties_.l2CacheSize))
                read_only<true><<<blocks, 512>>>(words, size / 16, never);
            else if (limit == Limit::read)
                read_only<false><<<blocks, 512>>>(words, size / 16, never);
        });
        static const char* const names[] = {"read only", "copy", "memset"};
        row({names[static_cast<int>(limit)], "-", ms,
             (limit == Limit::copy ? 2.0 : 1.0) * static_cast<double>(size), "", Kind::limit});
#endif
    }

    /// The exit status for main. The verdict is printed, and the CSV file written, when the sample itself is
    /// destroyed: main's arrays are gone by then, and what can fail has been done.
    int verdict() {
        flush_.reset();
        if (clocks_) CHECK(cudaFreeHost(clocks_));
        if (repeated_) say("%d of %d runs were repeated: the SMs' clock was low", repeated_, runs_);
        verdict_due_ = true;
        return status();
    }
    ~Sample() {
        if (!verdict_due_) return;
        const int promised = status();
        if (const int status = Lab::verdict(); status != promised) std::exit(status);
    }

private:
    // Other data than the sample's, twice what the L2 holds, and read: written, they would have to go to memory when the
    // sample's come, and cost it 3 us on an H200.
    void flush_l2() {
#ifndef CUDACPU
        if (!flush_) {
            flush_ = std::make_unique<DeviceArray<char>>(2 * std::max(properties_.l2CacheSize, 1 << 20) / 16 * 16);
            flush_->poison();
        }
        auto* words = reinterpret_cast<uint4*>(flush_->get());
        read_only<false><<<4 * sms(), 512>>>(words, flush_->size() / 16, reinterpret_cast<unsigned*>(words));
#endif
    }
    static void wait_behind_a_kernel([[maybe_unused]] double us) {
#ifndef CUDACPU
        hold<<<1, 1>>>(static_cast<unsigned long long>(1000 * us));
#endif
    }
    void watch_clocks([[maybe_unused]] bool after) {
#ifndef CUDACPU
        if (!on_gpu()) return;
        if (!clocks_) CHECK(cudaMallocHost(&clocks_, 4 * sizeof *clocks_));
        read_clocks<<<sms(), 1>>>(clocks_ + (after ? 2 : 0));
#endif
    }
    // Below three quarters of the clock that the device names, as nvbench has it.
    bool throttled() {
        if (!on_gpu()) return false;
        int khz = 0;
        CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device_));
        const double mhz = 1e3 * static_cast<double>(clocks_[2] - clocks_[0]) / static_cast<double>(clocks_[3] - clocks_[1]);
        const bool low = mhz < 0.75e-3 * khz && 10 * repeated_ <= runs_;
        ++runs_;
        repeated_ += low;
        return low;
    }
    // Is the median known to 0.5 %? Its standard error is some 1.25 standard deviations over the root of their number
    // where they are normal, and the middle half of them is 1.35 standard deviations wide.
    bool known(const std::vector<double>& times, double sum) const {
        if (typed("--repeats") || sum > 500 || times.size() >= 500) return true;
        const double middle_half = quantile(times, 0.75) - quantile(times, 0.25);
        return 1.25 / 1.35 * middle_half / std::sqrt(static_cast<double>(times.size())) < 0.005 * median(times);
    }
    // ms a launch of many, sent while a kernel holds them back; not measured where a launch takes so long that it is the same.
    double back_to_back(const Call& work, double ms) {
        if (ms > 2) return not_timed;
        const int launches = std::clamp(static_cast<int>(1 / ms), 4, 100);
        std::vector<double> times;
        Event start, stop;
        for (int batch = 0; batch < 5; ++batch) {
            wait_behind_a_kernel(6 * launches);
            start.record();
            for (int k = 0; k < launches; ++k) work();
            stop.record();
            times.push_back(stop.ms_since(start) / launches);
        }
        return median(times);
    }
    /// Blocks of a kernel on an SM, 0 as long as nobody asked: launches ask within the time that is measured.
    int& known_occupancy(const void* kernel, int threads, size_t shared_bytes) const {
        return resident_[{kernel, threads, shared_bytes}];
    }
    cudaDeviceProp properties_{};
    mutable std::map<std::tuple<const void*, int, size_t>, int> resident_;
    int device_ = 0;
    bool verdict_due_ = false;
    std::unique_ptr<DeviceArray<char>> flush_;
    unsigned long long* clocks_ = nullptr;  // SM 0's clocks and the time, before a run and after it
    int runs_ = 0, repeated_ = 0;
};

}  // namespace lab
