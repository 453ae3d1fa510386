// runtime.cpp - errors, the device's description, streams, events: the queue between host and device.
//
// Work is put off until the host waits for it. A program that forgets to wait reads old values, always.
#include <unistd.h>

#include <chrono>
#include <deque>
#include <set>

#include "internal.hpp"

struct CUstream_st {
    bool non_blocking;
};
struct CUevent_st {
    bool timed, recorded = false;
    unsigned long pending = 0;  // records that are still queued
    std::chrono::steady_clock::time_point time{};
};

namespace cudacpu {
namespace {

struct Work {
    CUstream_st* stream;
    std::function<cudaError_t()> run;
    bool is_kernel;
    CUevent_st *records = nullptr, *waits_for = nullptr;
};
std::deque<Work>& queue() {  // never destroyed: the exit report looks at it
    static auto& q = *new std::deque<Work>;
    return q;
}
std::set<CUstream_st*> streams;
std::set<CUevent_st*> events;
cudaError_t last_error, sticky_error;

bool is_default(CUstream_st* s) { return !s || s == cudaStreamLegacy; }
bool is_blocking(CUstream_st* s) { return !is_default(s) && (s == cudaStreamPerThread || !s->non_blocking); }
bool is_stream(CUstream_st* s) { return is_default(s) || s == cudaStreamPerThread || streams.count(s); }

cudaError_t run_queue(const std::function<bool(const Work&)>& wanted) {
    if (!queue().empty() && !in_kernel()) {
        device_takes_over(true);
        for (size_t i = 0; i < queue().size();) {
            if (!wanted(queue()[i])) {
                ++i;
                continue;
            }
            Work work = std::move(queue()[i]);
            queue().erase(queue().begin() + i);
            if (!sticky_error)
                if (cudaError_t e = work.run()) sticky_error = failed(e);
            if (work.records) --work.records->pending;
            if (sticky_error) {
                for (Work& w : queue())
                    if (w.records) --w.records->pending;
                queue().clear();
            }
        }
        device_takes_over(false);
        for (const Work& w : queue())
            if (w.is_kernel) managed_in_use(true);
    }
    return sticky_error ? failed(sticky_error) : cudaSuccess;
}

// Runs queue()[last], and of what comes before it only what it has to wait for: its own stream, events, and
// the default stream, which waits for all others and makes them wait.
cudaError_t run_until(size_t last) {
    std::set<CUstream_st*> needed{queue()[last].stream};
    std::set<CUevent_st*> awaited;
    bool all_blocking = false;
    std::vector<bool> take(queue().size());
    for (size_t i = last + 1; i-- > 0;) {
        const Work& w = queue()[i];
        const bool stream_needed = needed.count(w.stream) || (is_blocking(w.stream) && all_blocking);
        if (!stream_needed && !awaited.count(w.records)) continue;
        take[i] = true;
        needed.insert(w.stream);
        all_blocking |= is_default(w.stream);
        if (is_blocking(w.stream)) needed.insert(nullptr), needed.insert(cudaStreamLegacy);
        if (w.waits_for) awaited.insert(w.waits_for);
    }
    size_t i = 0;
    return run_queue([&](const Work&) { return i < take.size() && take[i++]; });
}

}  // namespace

cudaError_t failed(cudaError_t e) {
    if (e) last_error = e;
    return e;
}

// Every function of the runtime passes here first. After a kernel has failed none works any more.
cudaError_t gate(const char*) { return sticky_error ? failed(sticky_error) : cudaSuccess; }

cudaError_t enqueue(CUstream_st* stream, std::function<cudaError_t()> work, bool is_kernel) {
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    queue().push_back({stream, std::move(work), is_kernel});
    if (is_kernel) managed_in_use(true);
    return cudaSuccess;
}

cudaError_t finish(CUstream_st* stream) {
    for (size_t i = queue().size(); i-- > 0;)
        if (is_default(stream) ? is_default(queue()[i].stream) || is_blocking(queue()[i].stream)
                               : queue()[i].stream == stream)
            return run_until(i);
    return sticky_error ? failed(sticky_error) : cudaSuccess;
}

cudaError_t finish_all() {
    return run_queue([](const Work&) { return true; });
}

bool work_is_queued() { return !queue().empty(); }

namespace {
cudaError_t finish_event(CUevent_st* e) {
    for (size_t i = queue().size(); i-- > 0;)
        if (queue()[i].records == e) return run_until(i);
    return sticky_error ? failed(sticky_error) : cudaSuccess;
}

struct AtExit {
    ~AtExit() {
        size_t kernels = 0;
        for (const Work& w : queue()) kernels += w.is_kernel;
        if (kernels)
            say(
                text("cudacpu: notice: the program ended without waiting for its last %zu kernel%s, which "
                     "never ran:"
                     "\n  call cudaDeviceSynchronize()",
                     kernels, kernels > 1 ? "s" : ""));
        if (!sticky_error) report_leaks();
    }
} at_exit;
void last_word(int status, void*) {
    if (!status && exit_status) fflush(nullptr), _exit(exit_status);
}
const int registered = on_exit(last_word, nullptr);
}  // namespace

cudaError_t set_attribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
    if (auto e = gate("cudaFuncSetAttribute")) return e;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || size_t(value) > shared_most) return failed(cudaErrorInvalidValue);
    if (!kernel)
        limit_of_all = std::max<size_t>(limit_of_all, value);
    else
        kernel->dynamic_limit = std::max<size_t>(48 << 10, value);
    return cudaSuccess;
}

cudaError_t get_attributes(cudaFuncAttributes* a, const Kernel* kernel) {
    if (auto e = gate("cudaFuncGetAttributes")) return e;
    *a = {kernel ? kernel->static_bytes : 0,
          0,
          0,
          kernel && kernel->max_threads ? int(kernel->max_threads) : 1024,
          32,
          80,
          80,
          0,
          kernel ? int(kernel->dynamic_limit) : 48 << 10};
    return cudaSuccess;
}

cudaError_t blocks_per_sm(int* blocks, const Kernel* kernel, int threads, size_t dynamic_bytes) {
    if (auto e = gate("cudaOccupancyMaxActiveBlocksPerMultiprocessor")) return e;
    if (threads <= 0) return failed(cudaErrorInvalidValue);
    const size_t bytes = dynamic_bytes + (kernel ? kernel->static_bytes : 0) + 1024;
    *blocks = threads > 1024 ? 0 : std::min<size_t>({2048u / threads, 32, (228 << 10) / bytes});
    return cudaSuccess;
}

}  // namespace cudacpu

using namespace cudacpu;

// ---- errors and the device -------------------------------------------------------------------------------

cudaError_t cudaPeekAtLastError() { return last_error; }
cudaError_t cudaGetLastError() {
    const cudaError_t e = last_error;
    last_error = sticky_error;
    return e;
}
#define CUDACPU_NAME(name, number, words) \
    if (e == number) return "cuda" #name;
#define CUDACPU_WORDS(name, number, words) \
    if (e == number) return words;
const char* cudaGetErrorName(cudaError_t e) { CUDACPU_ERRORS(CUDACPU_NAME) return "unrecognized error code"; }
const char* cudaGetErrorString(cudaError_t e) {
    CUDACPU_ERRORS(CUDACPU_WORDS) return "unrecognized error code";
}

cudaError_t cudaDeviceSynchronize() {
    if (auto e = gate("cudaDeviceSynchronize")) return e;
    return finish_all();
}
cudaError_t cudaDeviceReset() {
    finish_all();
    last_error = sticky_error = cudaSuccess;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return gate("cudaGetDeviceCount");
}
cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return gate("cudaGetDevice");
}
cudaError_t cudaSetDevice(int device) {
    if (auto e = gate("cudaSetDevice")) return e;
    return device ? failed(cudaErrorInvalidDevice) : cudaSuccess;
}
cudaError_t cudaSetDeviceFlags(unsigned) { return gate("cudaSetDeviceFlags"); }
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }
cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return gate("cudaRuntimeGetVersion");
}
cudaError_t cudaDriverGetVersion(int* version) {
    *version = CUDART_VERSION;
    return gate("cudaDriverGetVersion");
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
    if (auto e = gate("cudaGetDeviceProperties")) return e;
    if (device) return failed(cudaErrorInvalidDevice);
    size_t free;
    *p = {};
    strcpy(p->name, "CPU device");
    cudaMemGetInfo(&free, &p->totalGlobalMem);
    p->sharedMemPerBlock = 48 << 10, p->totalConstMem = 64 << 10, p->memPitch = 0x7fffffff,
    p->textureAlignment = 512;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536, p->warpSize = 32, p->maxThreadsPerBlock = 1024;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024, p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff, p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->major = 8, p->multiProcessorCount = sm_count, p->integrated = 1, p->canMapHostMemory = 1;
    p->concurrentKernels = p->asyncEngineCount = p->unifiedAddressing = p->managedMemory = 1;
    p->memoryBusWidth = 64, p->l2CacheSize = 4 << 20, p->maxThreadsPerMultiProcessor = 2048;
    p->sharedMemPerMultiprocessor = 228 << 10, p->sharedMemPerBlockOptin = shared_most;
    p->reservedSharedMemPerBlock = 1024, p->maxBlocksPerMultiProcessor = 32;
    p->concurrentManagedAccess = p->hostNativeAtomicSupported = p->hostRegisterSupported = 1;
    p->memoryPoolsSupported = p->deviceOverlap = p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->clockRate = p->memoryClockRate = 1'000'000;  // kHz: clock64() counts nanoseconds
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp p;
    if (auto e = cudaGetDeviceProperties(&p, device)) return e;
    const std::pair<cudaDeviceAttr, size_t> known[] = {
        {cudaDevAttrMaxThreadsPerBlock, 1024},
        {cudaDevAttrMaxBlockDimX, 1024},
        {cudaDevAttrMaxBlockDimY, 1024},
        {cudaDevAttrMaxBlockDimZ, 64},
        {cudaDevAttrMaxGridDimX, 0x7fffffff},
        {cudaDevAttrMaxGridDimY, 65535},
        {cudaDevAttrMaxGridDimZ, 65535},
        {cudaDevAttrMaxSharedMemoryPerBlock, p.sharedMemPerBlock},
        {cudaDevAttrTotalConstantMemory, p.totalConstMem},
        {cudaDevAttrWarpSize, 32},
        {cudaDevAttrMaxPitch, p.memPitch},
        {cudaDevAttrMaxRegistersPerBlock, 65536},
        {cudaDevAttrClockRate, 1'000'000},
        {cudaDevAttrTextureAlignment, 512},
        {cudaDevAttrGpuOverlap, 1},
        {cudaDevAttrMultiProcessorCount, sm_count},
        {cudaDevAttrKernelExecTimeout, 0},
        {cudaDevAttrIntegrated, 1},
        {cudaDevAttrCanMapHostMemory, 1},
        {cudaDevAttrComputeMode, 0},
        {cudaDevAttrConcurrentKernels, 1},
        {cudaDevAttrEccEnabled, 0},
        {cudaDevAttrMemoryClockRate, 1'000'000},
        {cudaDevAttrGlobalMemoryBusWidth, 64},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
        {cudaDevAttrAsyncEngineCount, 1},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrComputeCapabilityMajor, 8},
        {cudaDevAttrComputeCapabilityMinor, 0},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 228 << 10},
        {cudaDevAttrMaxRegistersPerMultiprocessor, 65536},
        {cudaDevAttrManagedMemory, 1},
        {cudaDevAttrPageableMemoryAccess, 0},
        {cudaDevAttrConcurrentManagedAccess, 1},
        {cudaDevAttrCooperativeLaunch, 0},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, shared_most},
        {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
        {cudaDevAttrMemoryPoolsSupported, 1}};
    for (auto [name, number] : known)
        if (name == attribute) return *value = int(number), cudaSuccess;
    return failed(cudaErrorInvalidValue);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    *least = *greatest = 0;
    return gate("cudaDeviceGetStreamPriorityRange");
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
    *can = 0;
    return gate("cudaDeviceCanAccessPeer");
}
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return gate("cudaDeviceSetLimit"); }
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit) {
    *value = 256 << 10;
    return gate("cudaDeviceGetLimit");
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return gate("cudaDeviceSetCacheConfig"); }
cudaError_t cudaProfilerStart() { return gate("cudaProfilerStart"); }
cudaError_t cudaProfilerStop() { return gate("cudaProfilerStop"); }

// ---- streams and events ----------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) {
    if (auto e = gate("cudaStreamCreate")) return e;
    if (flags > cudaStreamNonBlocking) return failed(cudaErrorInvalidValue);
    streams.insert(*s = new CUstream_st{flags == cudaStreamNonBlocking});
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* s) { return cudaStreamCreateWithFlags(s, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned flags, int) {
    return cudaStreamCreateWithFlags(s, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t s) {
    if (auto e = gate("cudaStreamDestroy")) return e;
    if (!streams.count(s)) return failed(cudaErrorInvalidResourceHandle);
    const cudaError_t e = finish(s);
    streams.erase(s);
    delete s;
    return e;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
    if (auto e = gate("cudaStreamSynchronize")) return e;
    return is_stream(s) ? finish(s) : failed(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaStreamQuery(cudaStream_t s) { return cudaStreamSynchronize(s); }
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t event, unsigned) {
    if (auto e = gate("cudaStreamWaitEvent")) return e;
    if (!is_stream(s) || !events.count(event)) return failed(cudaErrorInvalidResourceHandle);
    queue().push_back({s, [] { return cudaSuccess; }, false, nullptr, event});
    return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t function, void* data) {
    if (auto e = gate("cudaLaunchHostFunc")) return e;
    return enqueue(s, [=] {
        device_takes_over(false);
        function(data);
        device_takes_over(true);
        return cudaSuccess;
    });
}
cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t function, void* data, unsigned) {
    if (auto e = gate("cudaStreamAddCallback")) return e;
    return enqueue(s, [=] {
        device_takes_over(false);
        function(s, cudaSuccess, data);
        device_takes_over(true);
        return cudaSuccess;
    });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    if (auto e = gate("cudaEventCreate")) return e;
    events.insert(*event = new CUevent_st{!(flags & cudaEventDisableTiming)});
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
    return cudaEventCreateWithFlags(event, flags);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (auto e = gate("cudaEventDestroy")) return e;
    if (!events.count(event)) return failed(cudaErrorInvalidResourceHandle);
    const cudaError_t e = finish_event(event);
    events.erase(event);
    delete event;
    return e;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t s) {
    if (auto e = gate("cudaEventRecord")) return e;
    if (!events.count(event) || !is_stream(s)) return failed(cudaErrorInvalidResourceHandle);
    event->recorded = true;
    ++event->pending;
    queue().push_back({s,
                       [=] {
                           event->time = std::chrono::steady_clock::now();
                           return cudaSuccess;
                       },
                       false, event});
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (auto e = gate("cudaEventSynchronize")) return e;
    return events.count(event) ? finish_event(event) : failed(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop) {
    if (auto e = gate("cudaEventElapsedTime")) return e;
    if (!events.count(start) || !events.count(stop) || !start->recorded || !stop->recorded || !start->timed ||
        !stop->timed)
        return failed(cudaErrorInvalidResourceHandle);
    if (start->pending || stop->pending) return failed(cudaErrorNotReady);
    *ms = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
    return cudaSuccess;
}
