// cuda_runtime_api.h - the part of the CUDA runtime API that the CPU device supports, with CUDA's names and
// numbers.
#pragma once
#include "cudacpu/host_language.hpp"
#if __cplusplus < 202002L
#pragma GCC system_header  // no warnings about newer C++
#endif
#include <type_traits>
#include <utility>

#include "cudacpu/engine.hpp"
#include "texture_types.h"
#ifdef CUDACPU_COUNTED
#include "cudacpu/rounds.hpp"
#endif

#define CUDART_VERSION 13000
#define CUDART_CB
#define __DRIVER_TYPES_H__  // tested by vendors' helper headers

// Tables.
// clang-format off
#define CUDACPU_ERRORS(X) \
    X(Success, 0, "no error") \
    X(ErrorInvalidValue, 1, "invalid argument") \
    X(ErrorMemoryAllocation, 2, "out of memory") \
    X(ErrorInitializationError, 3, "initialization error") \
    X(ErrorInvalidConfiguration, 9, "invalid configuration argument") \
    X(ErrorInvalidPitchValue, 12, "invalid pitch argument") \
    X(ErrorInvalidSymbol, 13, "invalid device symbol") \
    X(ErrorInvalidHostPointer, 16, "invalid host pointer") \
    X(ErrorInvalidDevicePointer, 17, "invalid device pointer") \
    X(ErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy") \
    X(ErrorStubLibrary, 34, "CUDA driver is a stub library") \
    X(ErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
    X(ErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable") \
    X(ErrorMissingConfiguration, 52, "__global__ function call is not configured") \
    X(ErrorInvalidDeviceFunction, 98, "invalid device function") \
    X(ErrorNoDevice, 100, "no CUDA-capable device is detected") \
    X(ErrorInvalidDevice, 101, "invalid device ordinal") \
    X(ErrorInvalidKernelImage, 200, "device kernel image is invalid") \
    X(ErrorDeviceUninitialized, 201, "invalid device context") \
    X(ErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
    X(ErrorECCUncorrectable, 214, "uncorrectable ECC error encountered") \
    X(ErrorUnsupportedLimit, 215, "limit is not supported on this architecture") \
    X(ErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices") \
    X(ErrorInvalidPtx, 218, "a PTX JIT compilation failed") \
    X(ErrorUnsupportedPtxVersion, 222, "the provided PTX was compiled with an unsupported toolchain.") \
    X(ErrorFileNotFound, 301, "file not found") \
    X(ErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS") \
    X(ErrorInvalidResourceHandle, 400, "invalid resource handle") \
    X(ErrorIllegalState, 401, "the operation cannot be performed in the present state") \
    X(ErrorSymbolNotFound, 500, "named symbol not found") \
    X(ErrorNotReady, 600, "device not ready") \
    X(ErrorIllegalAddress, 700, "an illegal memory access was encountered") \
    X(ErrorLaunchOutOfResources, 701, "too many resources requested for launch") \
    X(ErrorLaunchTimeout, 702, "the launch timed out and was terminated") \
    X(ErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled") \
    X(ErrorPeerAccessNotEnabled, 705, "peer access has not been enabled") \
    X(ErrorSetOnActiveProcess, 708, "cannot set while device is active in this process") \
    X(ErrorContextIsDestroyed, 709, "context is destroyed") \
    X(ErrorAssert, 710, "device-side assert triggered") \
    X(ErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
    X(ErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
    X(ErrorHardwareStackError, 714, "hardware stack error") \
    X(ErrorIllegalInstruction, 715, "an illegal instruction was encountered") \
    X(ErrorMisalignedAddress, 716, "misaligned address") \
    X(ErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space") \
    X(ErrorInvalidPc, 718, "invalid program counter") \
    X(ErrorLaunchFailure, 719, "unspecified launch failure") \
    X(ErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch") \
    X(ErrorNotPermitted, 800, "operation not permitted") \
    X(ErrorNotSupported, 801, "operation not supported") \
    X(ErrorSystemNotReady, 802, "system not yet initialized") \
    X(ErrorSystemDriverMismatch, 803, "system has unsupported display driver / cuda driver combination") \
    X(ErrorCompatNotSupportedOnDevice, 804, "forward compatibility was attempted on non supported HW") \
    X(ErrorUnknown, 999, "unknown error")
#define CUDACPU_OTHER_ERRORS(X) /* that the CPU device never gives, for programs that name them */ \
    X(ErrorCudartUnloading, 4) X(ErrorProfilerDisabled, 5) X(ErrorProfilerNotInitialized, 6) \
    X(ErrorProfilerAlreadyStarted, 7) X(ErrorProfilerAlreadyStopped, 8) \
    X(ErrorInvalidTexture, 18) \
    X(ErrorInvalidTextureBinding, 19) X(ErrorInvalidChannelDescriptor, 20) X(ErrorAddressOfConstant, 22) \
    X(ErrorTextureFetchFailed, 23) X(ErrorTextureNotBound, 24) X(ErrorSynchronizationError, 25) \
    X(ErrorInvalidFilterSetting, 26) X(ErrorInvalidNormSetting, 27) X(ErrorMixedDeviceExecution, 28) \
    X(ErrorNotYetImplemented, 31) X(ErrorMemoryValueTooLarge, 32) X(ErrorCallRequiresNewerDriver, 36) \
    X(ErrorInvalidSurface, 37) X(ErrorDuplicateVariableName, 43) X(ErrorDuplicateTextureName, 44) \
    X(ErrorDuplicateSurfaceName, 45) X(ErrorIncompatibleDriverContext, 49) \
    X(ErrorPriorLaunchFailure, 53) X(ErrorLaunchMaxDepthExceeded, 65) X(ErrorLaunchFileScopedTex, 66) \
    X(ErrorLaunchFileScopedSurf, 67) X(ErrorSyncDepthExceeded, 68) X(ErrorLaunchPendingCountExceeded, 69) \
    X(ErrorDeviceNotLicensed, 102) X(ErrorSoftwareValidityNotEstablished, 103) X(ErrorStartupFailure, 127) \
    X(ErrorMapBufferObjectFailed, 205) \
    X(ErrorUnmapBufferObjectFailed, 206) X(ErrorArrayIsMapped, 207) X(ErrorAlreadyMapped, 208) \
    X(ErrorAlreadyAcquired, 210) X(ErrorNotMapped, 211) X(ErrorNotMappedAsArray, 212) X(ErrorNotMappedAsPointer, 213) \
    X(ErrorDeviceAlreadyInUse, 216) \
    X(ErrorInvalidGraphicsContext, 219) \
    X(ErrorNvlinkUncorrectable, 220) X(ErrorJitCompilerNotFound, 221) X(ErrorJitCompilationDisabled, 223) \
    X(ErrorUnsupportedExecAffinity, 224) X(ErrorUnsupportedDevSideSync, 225) X(ErrorInvalidSource, 300) \
    X(ErrorSharedObjectSymbolNotFound, 302) X(ErrorSharedObjectInitFailed, 303) \
    X(ErrorLossyQuery, 402) \
    X(ErrorLaunchIncompatibleTexturing, 703) \
    X(ErrorTooManyPeers, 711) \
    X(ErrorMpsConnectionFailed, 805) X(ErrorMpsRpcFailure, 806) \
    X(ErrorMpsServerNotReady, 807) X(ErrorMpsMaxClientsReached, 808) X(ErrorMpsMaxConnectionsReached, 809) \
    X(ErrorMpsClientTerminated, 810) X(ErrorCdpNotSupported, 811) X(ErrorCdpVersionMismatch, 812) \
    X(ErrorStreamCaptureUnsupported, 900) X(ErrorStreamCaptureInvalidated, 901) X(ErrorStreamCaptureMerge, 902) \
    X(ErrorStreamCaptureUnmatched, 903) X(ErrorStreamCaptureUnjoined, 904) X(ErrorStreamCaptureIsolation, 905) \
    X(ErrorStreamCaptureImplicit, 906) X(ErrorCapturedEvent, 907) X(ErrorStreamCaptureWrongThread, 908) \
    X(ErrorTimeout, 909) X(ErrorGraphExecUpdateFailure, 910) X(ErrorExternalDevice, 911) \
    X(ErrorInvalidClusterSize, 912) X(ErrorFunctionNotLoaded, 913) X(ErrorInvalidResourceType, 914) \
    X(ErrorInvalidResourceConfiguration, 915) X(ErrorApiFailureBase, 10000)
#define CUDACPU_ATTRIBUTES(X) /* with what the CPU device answers */ \
    X(MaxThreadsPerBlock, 1, 1024) X(MaxBlockDimX, 2, 1024) X(MaxBlockDimY, 3, 1024) X(MaxBlockDimZ, 4, 64) \
    X(MaxGridDimX, 5, 0x7fffffff) X(MaxGridDimY, 6, 65535) X(MaxGridDimZ, 7, 65535) \
    X(MaxSharedMemoryPerBlock, 8, 48 << 10) X(TotalConstantMemory, 9, 64 << 10) X(WarpSize, 10, 32) \
    X(MaxPitch, 11, 0x7fffffff) X(MaxRegistersPerBlock, 12, 65536) X(ClockRate, 13, 1'000'000) \
    X(TextureAlignment, 14, 512) X(GpuOverlap, 15, 1) X(MultiProcessorCount, 16, sm_count) \
    X(KernelExecTimeout, 17, 0) X(Integrated, 18, 1) X(CanMapHostMemory, 19, 1) X(ComputeMode, 20, 0) \
    X(ConcurrentKernels, 31, 1) X(EccEnabled, 32, 0) X(PciBusId, 33, 0) X(PciDeviceId, 34, 0) X(TccDriver, 35, 0) \
    X(MemoryClockRate, 36, 1'000'000) X(GlobalMemoryBusWidth, 37, 64) X(L2CacheSize, 38, 4 << 20) \
    X(MaxThreadsPerMultiProcessor, 39, 2048) X(AsyncEngineCount, 40, 1) X(UnifiedAddressing, 41, 1) \
    X(PciDomainId, 50, 0) X(TexturePitchAlignment, 51, 32) X(ComputeCapabilityMajor, 75, 8) \
    X(ComputeCapabilityMinor, 76, 0) X(StreamPrioritiesSupported, 78, 1) X(GlobalL1CacheSupported, 79, 1) \
    X(LocalL1CacheSupported, 80, 1) X(MaxSharedMemoryPerMultiprocessor, 81, 228 << 10) \
    X(MaxRegistersPerMultiprocessor, 82, 65536) X(ManagedMemory, 83, 1) X(IsMultiGpuBoard, 84, 0) \
    X(MultiGpuBoardGroupID, 85, 0) X(HostNativeAtomicSupported, 86, 1) X(SingleToDoublePrecisionPerfRatio, 87, 0) \
    X(PageableMemoryAccess, 88, 0) X(ConcurrentManagedAccess, 89, 1) X(ComputePreemptionSupported, 90, 0) \
    X(CanUseHostPointerForRegisteredMem, 91, 1) X(CooperativeLaunch, 95, 1) X(CooperativeMultiDeviceLaunch, 96, 0) \
    X(MaxSharedMemoryPerBlockOptin, 97, shared_most) X(CanFlushRemoteWrites, 98, 0) X(HostRegisterSupported, 99, 1) \
    X(PageableMemoryAccessUsesHostPageTables, 100, 0) X(DirectManagedMemAccessFromHost, 101, 0) \
    X(MaxBlocksPerMultiprocessor, 106, 32) X(MaxPersistingL2CacheSize, 108, 0) X(MaxAccessPolicyWindowSize, 109, 0) \
    X(ReservedSharedMemoryPerBlock, 111, 1024) X(HostRegisterReadOnlySupported, 113, 0) \
    X(MemoryPoolsSupported, 115, 1) X(GPUDirectRDMASupported, 116, 0) X(ClusterLaunch, 120, 0) \
    X(IpcEventSupport, 125, 0)
#define CUDACPU_ERROR(name, number, ...) cuda##name = number,
#define CUDACPU_ATTRIBUTE(name, number, value) cudaDevAttr##name = number,
enum cudaError : int { CUDACPU_ERRORS(CUDACPU_ERROR) CUDACPU_OTHER_ERRORS(CUDACPU_ERROR) };
enum cudaDeviceAttr { CUDACPU_ATTRIBUTES(CUDACPU_ATTRIBUTE) };
enum cudaMemcpyKind {  // bit 0: to the device, bit 1: from the device
    cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault };
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout };
enum cudaSharedCarveout {
    cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxL1, cudaSharedmemCarveoutMaxShared = 100 };
enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaLimit {
    cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize, cudaLimitDevRuntimeSyncDepth,
    cudaLimitDevRuntimePendingLaunchCount, cudaLimitMaxL2FetchGranularity, cudaLimitPersistingL2CacheSize };
enum cudaComputeMode {
    cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited, cudaComputeModeExclusiveProcess };
enum cudaMemRangeAttribute {
    cudaMemRangeAttributeReadMostly = 1, cudaMemRangeAttributePreferredLocation, cudaMemRangeAttributeAccessedBy,
    cudaMemRangeAttributeLastPrefetchLocation };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly, cudaMemAdviseSetPreferredLocation,
    cudaMemAdviseUnsetPreferredLocation, cudaMemAdviseSetAccessedBy, cudaMemAdviseUnsetAccessedBy };
enum cudaMemLocationType { cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost };
enum : unsigned {
    cudaMemAttachGlobal = 1, cudaMemAttachHost, cudaHostAllocDefault = 0, cudaHostAllocPortable,
    cudaHostAllocMapped, cudaHostAllocWriteCombined = 4, cudaHostRegisterDefault = 0, cudaHostRegisterPortable,
    cudaHostRegisterMapped, cudaHostRegisterIoMemory = 4, cudaHostRegisterReadOnly = 8,
    cudaEventDefault = 0, cudaEventBlockingSync, cudaEventDisableTiming, cudaEventInterprocess = 4,
    cudaEventRecordDefault = 0, cudaEventRecordExternal, cudaEventWaitDefault = 0, cudaEventWaitExternal,
    cudaOccupancyDefault = 0, cudaOccupancyDisableCachingOverride, cudaInitDeviceFlagsAreValid = 1,
    cudaStreamDefault = 0, cudaStreamNonBlocking, cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin,
    cudaDeviceScheduleYield, cudaDeviceScheduleBlockingSync = 4, cudaDeviceBlockingSync = 4, cudaDeviceScheduleMask = 7,
    cudaDeviceMapHost = 8, cudaDeviceLmemResizeToMax = 16, cudaDeviceSyncMemops = 128, cudaDeviceMask = 255,
    cudaMemAttachSingle = 4 };
struct cudaExtent { size_t width, height, depth; };  // the width in bytes
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };
constexpr cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
constexpr cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
constexpr cudaPitchedPtr make_cudaPitchedPtr(void* p, size_t pitch, size_t xsize, size_t ysize) {
    return {p, pitch, xsize, ysize};
}
using cudaArray_t = struct cudaArray*;  // always nullptr, because the CPU device has no arrays
struct cudaMemcpy3DParms {
    cudaArray_t srcArray; cudaPos srcPos; cudaPitchedPtr srcPtr;
    cudaArray_t dstArray; cudaPos dstPos; cudaPitchedPtr dstPtr;
    cudaExtent extent; cudaMemcpyKind kind; };
enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore, cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6, cudaLaunchAttributePriority = 8 };
union cudaLaunchAttributeValue { char pad[64]; int cooperative, programmaticStreamSerializationAllowed, priority; };
struct cudaLaunchAttribute { cudaLaunchAttributeID id; cudaLaunchAttributeValue val; };
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim; size_t dynamicSmemBytes = 0; CUstream_st* stream = nullptr;
    cudaLaunchAttribute* attrs = nullptr; unsigned numAttrs = 0; };
enum cudaDeviceP2PAttr {
    cudaDevP2PAttrPerformanceRank = 1, cudaDevP2PAttrAccessSupported, cudaDevP2PAttrNativeAtomicSupported,
    cudaDevP2PAttrCudaArrayAccessSupported };
enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1, cudaMemPoolReuseAllowOpportunistic,
    cudaMemPoolReuseAllowInternalDependencies, cudaMemPoolAttrReleaseThreshold, cudaMemPoolAttrReservedMemCurrent,
    cudaMemPoolAttrReservedMemHigh, cudaMemPoolAttrUsedMemCurrent, cudaMemPoolAttrUsedMemHigh };
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid, cudaMemAllocationTypePinned };
enum cudaMemAllocationHandleType { cudaMemHandleTypeNone, cudaMemHandleTypePosixFileDescriptor };
struct cudaMemLocation { cudaMemLocationType type; int id; };
struct cudaMemPoolProps {
    cudaMemAllocationType allocType; cudaMemAllocationHandleType handleTypes; cudaMemLocation location;
    void* win32SecurityAttributes; size_t maxSize; unsigned short usage; unsigned char reserved[54]; };
using cudaMemPool_t = struct CUmemPoolHandle_st*;
struct cudaPointerAttributes { cudaMemoryType type; int device; void *devicePointer, *hostPointer; };
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes; };
// clang-format on
constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;
using cudaError_t = cudaError;
using cudaEvent_t = struct CUevent_st*;
using cudaStream_t = CUstream_st*;
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))
using cudaHostFn_t = void (*)(void*);
using cudaStreamCallback_t = void (*)(cudaStream_t, cudaError_t, void*);

// ---- building blocks: `a ?: b` is b if a is cudaSuccess; for clang it is an int --------------------------

namespace cudacpu {

// Includes no more of the C++ library than CUDA's header does: std::count would hide a program's own count.
template <class T> constexpr T smaller(T a, std::common_type_t<T> b) { return b < a ? b : a; }
constexpr int sm_count = 4;
constexpr int shared_most = 227 << 10;
// Limit for blocks that may wait for each other, because each of their threads needs a stack.
constexpr unsigned resident_most(unsigned threads) { return smaller(128u, (24u << 10) / threads); }
extern size_t limit_of_all, bytes_in_use;
size_t available_memory();
extern size_t limits[7];  // by the numbers of cudaLimit
cudaError_t set_limit(cudaLimit limit, size_t value);
enum class Kind { device, managed, pinned, registered, shared, dynamic };
extern cudaError_t last_error, sticky_error;  // sticky: a kernel's error, after which every function fails
extern cudaError_t untold;                    // of a kernel or a launch, not yet returned to the program
extern bool told;  // the last call returned it, unless the statement discarded the result
inline cudaError_t tell(cudaError_t e) { return told |= e && e == untold, e; }
inline void not_looked_at() { told = false; }
cudaError_t gate(const char* function);  // every function of the API passes here first
extern bool stream_0_is_per_thread;
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
[[maybe_unused]] static const bool asks_for_streams_per_thread = stream_0_is_per_thread = true;
#endif
struct OneCall {  // allows one call of the API at a time
    const bool locked = lock();
    static bool lock();
    ~OneCall();
};
inline cudaError_t failed(cudaError_t e) { return e ? last_error = e : e; }
inline cudaError_t check(bool ok, cudaError_t e = cudaErrorInvalidValue) { return failed(ok ? cudaSuccess : e); }
cudaError_t give(auto* to, auto value) { return cudaError_t(cudacpu::check(to) ?: (*to = value, cudaSuccess)); }
const char* describe(cudaError_t error, bool by_name);
cudaError_t reset(cudaError_t passed);

cudaMemPool_t pool(const cudaMemPoolProps* = nullptr);  // a new pool, or the default one; all share the memory
cudaError_t pool_attribute(cudaMemPool_t, cudaMemPoolAttr, void* to, const void* from);
cudaError_t allocate(void* pointer_to_set, size_t bytes, Kind kind, Where where);
cudaError_t release(void* p, Kind kind);
cudaError_t release_in_order(void* p, cudaStream_t stream);
cudaError_t release_all();
cudaError_t register_host(void* p, size_t bytes, Where where);
cudaPointerAttributes attributes_of(const void* p);
bool is_managed(const void* p, size_t bytes);
cudaError_t copy(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                 cudaMemcpyKind kind, cudaStream_t stream, bool wait);
cudaError_t set(void* p, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream, bool wait);
cudaError_t copy_3d(const cudaMemcpy3DParms* parameters, cudaStream_t stream, bool wait);
cudaError_t set_3d(const cudaPitchedPtr& p, int value, const cudaExtent& extent, cudaStream_t stream, bool wait);
void* symbol_address(const void* symbol);
char* part_of(const void* symbol, size_t size, size_t offset, size_t bytes);  // nullptr: an error was reported
template <class S> char* within_symbol(const S& symbol, size_t offset, size_t bytes, bool right_way) {
    return right_way ? part_of((const void*)&symbol, sizeof(S), offset, bytes) : nullptr;
}

// Queued work runs when the host waits for it, in finish().
cudaError_t enqueue_call(cudaStream_t stream, cudaHostFn_t f, void* data);
cudaError_t enqueue_call(cudaStream_t stream, cudaStreamCallback_t f, void* data);
cudaError_t finish(cudaStream_t), finish(cudaEvent_t), finish_all();
cudaError_t query(cudaStream_t), query(cudaEvent_t);
constexpr int highest_priority = -5;
struct StreamProperties {
    unsigned flags;
    int priority;
    unsigned long long id;  // unique
};
StreamProperties properties_of(cudaStream_t);
cudaError_t create(cudaStream_t*, unsigned flags, int priority = 0), create(cudaEvent_t*, unsigned flags);
cudaError_t destroy(cudaStream_t), destroy(cudaEvent_t);
cudaError_t create(cudaTextureObject_t*, const cudaResourceDesc*, const cudaTextureDesc*),
    destroy(cudaTextureObject_t);
cudaError_t record(cudaEvent_t, cudaStream_t), wait_for(cudaEvent_t, cudaStream_t);
cudaError_t elapsed(float* ms, cudaEvent_t start, cudaEvent_t stop);

alignas(256) extern char blank_argument[4 << 10];
template <class... P> Kernel* kernel_of(void (*function)(P...)) {  // the call only returns which kernel it is
    Kernel* kernel = nullptr;
    probe = &kernel;
    function(reinterpret_cast<P&>(blank_argument)...);
    probe = nullptr;
    return kernel;
}
inline Kernel* kernel_of(const void*) { return nullptr; }  // its type is unknown: a setting applies to all
inline int most_threads(const Kernel* k) { return k && k->max_threads ? int(k->max_threads) : 1024; }
inline cudaFuncAttributes attributes_of(const Kernel* k) {
    const size_t bytes = k ? k->static_bytes : 0, limit = k ? k->dynamic_limit : limit_of_all;
    return {bytes, 0, 0, most_threads(k), 32, 80, 80, 0, int(limit)};
}
inline cudaError_t set_attribute(Kernel* k, cudaFuncAttribute attribute, int value) {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || size_t(value) > shared_most) return failed(cudaErrorInvalidValue);
    (k ? k->dynamic_limit : limit_of_all) = value < 48 << 10 ? 48 << 10 : value;
    return cudaSuccess;
}
inline cudaError_t occupancy(int* blocks, const Kernel* k, int threads, size_t dynamic_bytes) {
    const size_t bytes = 1024 + (k ? k->static_bytes : 0), room = 228 << 10;
    if (threads <= 0) return failed(cudaErrorInvalidValue);
    if (threads > most_threads(k) || dynamic_bytes > room) return give(blocks, 0);
    return give(blocks, smaller(smaller(2048 / threads, 32), int(room / (bytes + dynamic_bytes))));
}
inline cudaError_t attribute(int* to, cudaDeviceAttr attribute) {
#define CUDACPU_VALUE(name, number, value) \
    case number: return give(to, value);
    switch (attribute) { CUDACPU_ATTRIBUTES(CUDACPU_VALUE) }
    return failed(cudaErrorInvalidValue);
}

}  // namespace cudacpu

// The members in CUDA 13, and some that CUDA 12 still had, with the CPU device's values.
// Rates are in kHz: clock64() counts nanoseconds.
// clang-format off
struct cudaDeviceProp {
    char name[256] = "CPU device";
    struct { char bytes[16]; } uuid;
    size_t totalGlobalMem = cudacpu::available_memory(), sharedMemPerBlock = 48 << 10, totalConstMem = 64 << 10,
        sharedMemPerMultiprocessor = 228 << 10, sharedMemPerBlockOptin = cudacpu::shared_most,
        reservedSharedMemPerBlock = 1024, memPitch = 0x7fffffff, textureAlignment = 512, texturePitchAlignment = 32,
        surfaceAlignment = 512;
    int major = 8, minor, multiProcessorCount = cudacpu::sm_count, warpSize = 32, maxThreadsPerBlock = 1024,
        maxThreadsDim[3] = {1024, 1024, 64}, maxGridSize[3] = {0x7fffffff, 65535, 65535}, l2CacheSize = 4 << 20,
        maxThreadsPerMultiProcessor = 2048, maxBlocksPerMultiProcessor = 32, regsPerBlock = 65536,
        regsPerMultiprocessor = 65536, memoryBusWidth = 64, integrated = 1, canMapHostMemory = 1, deviceOverlap = 1,
        concurrentKernels = 1, asyncEngineCount = 1, unifiedAddressing = 1, managedMemory = 1,
        memoryPoolsSupported = 1, concurrentManagedAccess = 1, hostNativeAtomicSupported = 1,
        hostRegisterSupported = 1, globalL1CacheSupported = 1, localL1CacheSupported = 1, clockRate = 1'000'000,
        memoryClockRate = 1'000'000, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver,
        persistingL2CacheMaxSize, computeMode, clusterLaunch, streamPrioritiesSupported = 1, isMultiGpuBoard,
        pageableMemoryAccess, pageableMemoryAccessUsesHostPageTables, computePreemptionSupported, cooperativeLaunch = 1,
        cooperativeMultiDeviceLaunch, kernelExecTimeoutEnabled, singleToDoublePrecisionPerfRatio, multiGpuBoardGroupID,
        canUseHostPointerForRegisteredMem = 1, directManagedMemAccessFromHost, hostRegisterReadOnlySupported,
        accessPolicyMaxWindowSize, sparseCudaArraySupported, timelineSemaphoreInteropSupported, ipcEventSupported,
        deferredMappingCudaArraySupported, gpuDirectRDMASupported, unifiedFunctionPointers, maxTexture1D,
        maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3],
        maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2],
        maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3],
        maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    char luid[8];
    unsigned luidDeviceNodeMask;
};
// clang-format on

// ---- the functions: name, parameters, and the body that runs after the gate ---------------------------------
// A separate namespace lets them name the engine's functions without `cudacpu::`.

namespace cudacpu::api {

inline cudaError_t cudaPeekAtLastError() { return tell(last_error); }
inline cudaError_t cudaGetLastError() { return tell(std::exchange(last_error, sticky_error)); }
inline const char* cudaGetErrorName(cudaError_t e) { return describe(e, true); }
inline const char* cudaGetErrorString(cudaError_t e) { return describe(e, false); }
inline cudaError_t cudaDeviceReset() { return OneCall(), tell(reset(gate("cudaDeviceReset"))); }

// clang-format off
#define CUDACPU_API(name, parameters, ...) \
    inline cudaError_t name parameters { \
        [[maybe_unused]] const OneCall call; \
        return tell(cudaError_t(gate(#name) ?: (__VA_ARGS__))); \
    }
CUDACPU_API(cudaDeviceSynchronize, (), finish_all())
[[deprecated("CUDA 13 has dropped it: use cudaDeviceSynchronize()")]]
CUDACPU_API(cudaThreadSynchronize, (), finish_all())
[[deprecated("CUDA 13 has dropped it: use cudaDeviceReset()")]]
CUDACPU_API(cudaThreadExit, (), reset(cudaSuccess))
[[deprecated("CUDA 13 has dropped it: use cudaDeviceSetLimit()")]]
CUDACPU_API(cudaThreadSetLimit, (cudaLimit l, size_t value), set_limit(l, value))
[[deprecated("CUDA 13 has dropped it: use cudaDeviceSetCacheConfig()")]]
CUDACPU_API(cudaThreadSetCacheConfig, (cudaFuncCache), cudaSuccess)
CUDACPU_API(cudaGetDeviceCount, (int* count), give(count, 1))
CUDACPU_API(cudaGetDevice, (int* device), give(device, 0))
CUDACPU_API(cudaSetDevice, (int device), check(!device, cudaErrorInvalidDevice))
CUDACPU_API(cudaRuntimeGetVersion, (int* version), give(version, CUDART_VERSION))
CUDACPU_API(cudaDriverGetVersion, (int* version), give(version, CUDART_VERSION))
CUDACPU_API(cudaGetDeviceProperties, (cudaDeviceProp* p, int device),
            check(!device, cudaErrorInvalidDevice) ?: give(p, cudaDeviceProp()))
CUDACPU_API(cudaDeviceGetAttribute, (int* value, cudaDeviceAttr a, int device),
            check(!device, cudaErrorInvalidDevice) ?: attribute(value, a))
CUDACPU_API(cudaDeviceCanAccessPeer, (int* can, int, int), give(can, 0))
CUDACPU_API(cudaDeviceGetP2PAttribute, (int*, cudaDeviceP2PAttr, int, int), failed(cudaErrorInvalidDevice))
CUDACPU_API(cudaDeviceEnablePeerAccess, (int, unsigned), cudaErrorInvalidDevice)
CUDACPU_API(cudaDeviceDisablePeerAccess, (int), cudaErrorInvalidDevice)
CUDACPU_API(cudaDeviceGetStreamPriorityRange, (int* least, int* greatest),
            give(least, 0) ?: give(greatest, highest_priority))
CUDACPU_API(cudaStreamCreateWithPriority, (cudaStream_t* s, unsigned flags, int priority), create(s, flags, priority))
CUDACPU_API(cudaStreamGetPriority, (cudaStream_t s, int* priority), give(priority, properties_of(s).priority))
CUDACPU_API(cudaStreamGetFlags, (cudaStream_t s, unsigned* flags), give(flags, properties_of(s).flags))
CUDACPU_API(cudaStreamGetId, (cudaStream_t s, unsigned long long* id), give(id, properties_of(s).id))
CUDACPU_API(cudaStreamGetDevice, (cudaStream_t, int* device), give(device, 0))
CUDACPU_API(cudaChooseDevice, (int* device, const cudaDeviceProp*), give(device, 0))
CUDACPU_API(cudaSetValidDevices, (int*, int), cudaSuccess)
CUDACPU_API(cudaInitDevice, (int device, unsigned, unsigned), check(!device, cudaErrorInvalidDevice))
CUDACPU_API(cudaGetDeviceFlags, (unsigned* flags), give(flags, cudaDeviceScheduleAuto))
CUDACPU_API(cudaDeviceGetCacheConfig, (cudaFuncCache* c), give(c, cudaFuncCachePreferNone))
CUDACPU_API(cudaDeviceGetPCIBusId, (char* id, int length, int device),
            check(id && length > 12 && !device) ?: (strcpy(id, "0000:00:00.0"), cudaSuccess))
CUDACPU_API(cudaDeviceGetByPCIBusId, (int* device, const char*), give(device, 0))
CUDACPU_API(cudaDeviceGetLimit, (size_t* value, cudaLimit l),
            check(l >= 0 && l <= cudaLimitPersistingL2CacheSize) ?: give(value, limits[l]))
CUDACPU_API(cudaFuncSetSharedMemConfig, (auto, cudaSharedMemConfig), cudaSuccess)
CUDACPU_API(cudaStreamAttachMemAsync, (cudaStream_t, void*, size_t = 0, unsigned = 4), cudaSuccess)
CUDACPU_API(cudaFuncSetCacheConfig, (auto, cudaFuncCache), cudaSuccess)
CUDACPU_API(cudaDeviceSetCacheConfig, (cudaFuncCache), cudaSuccess)
CUDACPU_API(cudaDeviceSetSharedMemConfig, (cudaSharedMemConfig), cudaSuccess)
CUDACPU_API(cudaDeviceGetSharedMemConfig, (cudaSharedMemConfig* banks), give(banks, cudaSharedMemBankSizeFourByte))
CUDACPU_API(cudaCtxResetPersistingL2Cache, (), cudaSuccess)
CUDACPU_API(cudaSetDeviceFlags, (unsigned), cudaSuccess)
CUDACPU_API(cudaDeviceSetLimit, (cudaLimit l, size_t value), set_limit(l, value))
CUDACPU_API(cudaProfilerStart, (), cudaSuccess) CUDACPU_API(cudaProfilerStop, (), cudaSuccess)

CUDACPU_API(cudaMalloc, (auto** p, size_t n, CUDACPU_HERE), allocate(p, n, Kind::device, where))
CUDACPU_API(cudaMallocAsync, (auto** p, size_t n, cudaStream_t, CUDACPU_HERE), allocate(p, n, Kind::device, where))
CUDACPU_API(cudaMallocAsync, (auto** p, size_t n, cudaMemPool_t, cudaStream_t, CUDACPU_HERE),
            allocate(p, n, Kind::device, where))
CUDACPU_API(cudaMallocFromPoolAsync, (auto** p, size_t n, cudaMemPool_t, cudaStream_t, CUDACPU_HERE),
            allocate(p, n, Kind::device, where))
CUDACPU_API(cudaDeviceGetDefaultMemPool, (cudaMemPool_t* p, int device),
            check(!device, cudaErrorInvalidDevice) ?: give(p, pool()))
CUDACPU_API(cudaDeviceGetMemPool, (cudaMemPool_t* p, int device),
            check(!device, cudaErrorInvalidDevice) ?: give(p, pool()))
CUDACPU_API(cudaDeviceSetMemPool, (int device, cudaMemPool_t p), check(!device && p))
CUDACPU_API(cudaMemPoolCreate, (cudaMemPool_t* p, const cudaMemPoolProps* props), check(props) ?: give(p, pool(props)))
CUDACPU_API(cudaMemPoolDestroy, (cudaMemPool_t p), check(p && p != pool()))
CUDACPU_API(cudaMemPoolTrimTo, (cudaMemPool_t p, size_t), check(p))
CUDACPU_API(cudaMemPoolSetAttribute, (cudaMemPool_t p, cudaMemPoolAttr a, void* value),
            pool_attribute(p, a, nullptr, value))
CUDACPU_API(cudaMemPoolGetAttribute, (cudaMemPool_t p, cudaMemPoolAttr a, void* value),
            pool_attribute(p, a, value, nullptr))
CUDACPU_API(cudaMallocPitch, (auto** p, size_t* pitch, size_t width, size_t height, CUDACPU_HERE),
            give(pitch, (width + 511) / 512 * 512) ?: allocate(p, *pitch * height, Kind::device, where))
CUDACPU_API(cudaMalloc3D, (cudaPitchedPtr* p, cudaExtent e, CUDACPU_HERE),
            give(p, make_cudaPitchedPtr(nullptr, (e.width + 511) / 512 * 512, e.width, e.height))
                ?: allocate(&p->ptr, p->pitch * e.height * e.depth, Kind::device, where))
CUDACPU_API(cudaMallocManaged, (auto** p, size_t n, unsigned flags = cudaMemAttachGlobal, CUDACPU_HERE),
            check(flags == 1 || flags == 2) ?: allocate(p, n, Kind::managed, where))
CUDACPU_API(cudaMallocHost, (auto** p, size_t n, unsigned = 0, CUDACPU_HERE), allocate(p, n, Kind::pinned, where))
CUDACPU_API(cudaHostAlloc, (auto** p, size_t n, unsigned, CUDACPU_HERE), allocate(p, n, Kind::pinned, where))
CUDACPU_API(cudaHostRegister, (void* p, size_t n, unsigned = 0, CUDACPU_HERE), register_host(p, n, where))
CUDACPU_API(cudaFree, (void* p), release(p, Kind::device))
CUDACPU_API(cudaFreeAsync, (void* p, cudaStream_t s), release_in_order(p, s))
CUDACPU_API(cudaFreeHost, (void* p), release(p, Kind::pinned))
CUDACPU_API(cudaHostUnregister, (void* p), release(p, Kind::registered))
CUDACPU_API(cudaHostGetFlags, (unsigned* flags, void* p),
            check(attributes_of(p).type == cudaMemoryTypeHost) ?: give(flags, cudaHostAllocMapped))
CUDACPU_API(cudaHostGetDevicePointer, (auto** p, void* host, unsigned = 0),
            check(attributes_of(host).type == cudaMemoryTypeHost) ?: give((void**)p, host))
CUDACPU_API(cudaCreateTextureObject, (cudaTextureObject_t* t, const cudaResourceDesc* r, const cudaTextureDesc* d,
                                     decltype(nullptr)), create(t, r, d))
CUDACPU_API(cudaDestroyTextureObject, (cudaTextureObject_t t), destroy(t))
CUDACPU_API(cudaPointerGetAttributes, (cudaPointerAttributes* a, const void* p), give(a, attributes_of(p)))
CUDACPU_API(cudaMemGetInfo, (size_t* free, size_t* total),
            give(total, available_memory()) ?: give(free, *total - bytes_in_use))
CUDACPU_API(cudaMemcpy, (void* to, const void* from, size_t n, cudaMemcpyKind kind),
            copy(to, n, from, n, n, 1, kind, nullptr, true))
CUDACPU_API(cudaMemcpyAsync, (void* to, const void* from, size_t n, cudaMemcpyKind kind, cudaStream_t s = nullptr),
            copy(to, n, from, n, n, 1, kind, s, false))
CUDACPU_API(cudaMemcpy2D, (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                           size_t height, cudaMemcpyKind kind),
            copy(to, to_pitch, from, from_pitch, width, height, kind, nullptr, true))
CUDACPU_API(cudaMemcpy2DAsync, (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                size_t height, cudaMemcpyKind kind, cudaStream_t s = nullptr),
            copy(to, to_pitch, from, from_pitch, width, height, kind, s, false))
CUDACPU_API(cudaMemcpy3D, (const cudaMemcpy3DParms* p), copy_3d(p, nullptr, true))
CUDACPU_API(cudaMemcpy3DAsync, (const cudaMemcpy3DParms* p, cudaStream_t s = nullptr), copy_3d(p, s, false))
CUDACPU_API(cudaMemcpyPeer, (void* to, int to_device, const void* from, int from_device, size_t n),
            check(!to_device && !from_device, cudaErrorInvalidDevice)
                ?: copy(to, n, from, n, n, 1, cudaMemcpyDefault, nullptr, true))
CUDACPU_API(cudaMemcpyPeerAsync, (void* to, int to_device, const void* from, int from_device, size_t n,
                                  cudaStream_t s = nullptr),
            check(!to_device && !from_device, cudaErrorInvalidDevice)
                ?: copy(to, n, from, n, n, 1, cudaMemcpyDefault, s, false))
// CUDA takes them by value.
// cppcheck-suppress passedByValue
CUDACPU_API(cudaMemset3D, (cudaPitchedPtr p, int value, cudaExtent e), set_3d(p, value, e, nullptr, true))
// cppcheck-suppress passedByValue
CUDACPU_API(cudaMemset3DAsync, (cudaPitchedPtr p, int value, cudaExtent e, cudaStream_t s = nullptr),
            set_3d(p, value, e, s, false))
CUDACPU_API(cudaMemset, (void* p, int value, size_t n), set(p, n, value, n, 1, nullptr, true))
CUDACPU_API(cudaMemsetAsync, (void* p, int value, size_t n, cudaStream_t s = nullptr), set(p, n, value, n, 1, s, false))
CUDACPU_API(cudaMemset2DAsync, (void* p, size_t pitch, int value, size_t w, size_t h, cudaStream_t s = nullptr),
            set(p, pitch, value, w, h, s, false))
CUDACPU_API(cudaMemset2D, (void* p, size_t pitch, int value, size_t w, size_t h),
            set(p, pitch, value, w, h, nullptr, true))
CUDACPU_API(cudaMemPrefetchAsync, (const void* p, size_t n, int, cudaStream_t = nullptr), check(is_managed(p, n)))
CUDACPU_API(cudaMemPrefetchAsync, (const void* p, size_t n, cudaMemLocation, unsigned, cudaStream_t = nullptr),
            check(is_managed(p, n)))
CUDACPU_API(cudaMemAdvise, (const void* p, size_t n, cudaMemoryAdvise, int), check(is_managed(p, n)))
CUDACPU_API(cudaMemAdvise, (const void* p, size_t n, cudaMemoryAdvise, cudaMemLocation), check(is_managed(p, n)))

CUDACPU_API(cudaMemcpyToSymbol, (const auto& symbol, const void* from, size_t n, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyHostToDevice),
            copy(within_symbol(symbol, offset, n, kind & (1 | 4)), n, from, n, n, 1, kind, nullptr, true))
CUDACPU_API(cudaMemcpyFromSymbol, (void* to, const auto& symbol, size_t n, size_t offset = 0,
                                   cudaMemcpyKind kind = cudaMemcpyDeviceToHost),
            copy(to, n, within_symbol(symbol, offset, n, kind & (2 | 4)), n, n, 1, kind, nullptr, true))
CUDACPU_API(cudaMemcpyToSymbolAsync, (const auto& symbol, const void* from, size_t n, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t s = nullptr),
            copy(within_symbol(symbol, offset, n, kind & (1 | 4)), n, from, n, n, 1, kind, s, false))
CUDACPU_API(cudaMemcpyFromSymbolAsync, (void* to, const auto& symbol, size_t n, size_t offset, cudaMemcpyKind kind,
                                        cudaStream_t s = nullptr),
            copy(to, n, within_symbol(symbol, offset, n, kind & (2 | 4)), n, n, 1, kind, s, false))
CUDACPU_API(cudaGetSymbolAddress, (auto** p, const auto& symbol), give((void**)p, symbol_address((const void*)&symbol)))
CUDACPU_API(cudaGetSymbolSize, (size_t* size, const auto& symbol), give(size, sizeof symbol))

CUDACPU_API(cudaStreamCreate, (cudaStream_t* s), create(s, cudaStreamDefault))
CUDACPU_API(cudaStreamCreateWithFlags, (cudaStream_t* s, unsigned flags), create(s, flags))
CUDACPU_API(cudaStreamDestroy, (cudaStream_t s), destroy(s))
CUDACPU_API(cudaStreamSynchronize, (cudaStream_t s), finish(s))
CUDACPU_API(cudaStreamQuery, (cudaStream_t s), query(s))
CUDACPU_API(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t event, unsigned = 0), wait_for(event, s))
CUDACPU_API(cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t f, void* data), enqueue_call(s, f, data))
CUDACPU_API(cudaStreamAddCallback, (cudaStream_t s, cudaStreamCallback_t f, void* data, unsigned),
            enqueue_call(s, f, data))
CUDACPU_API(cudaEventCreate, (cudaEvent_t* event, unsigned flags = cudaEventDefault), create(event, flags))
CUDACPU_API(cudaEventCreateWithFlags, (cudaEvent_t* event, unsigned flags), create(event, flags))
CUDACPU_API(cudaEventDestroy, (cudaEvent_t event), destroy(event))
CUDACPU_API(cudaEventRecord, (cudaEvent_t event, cudaStream_t s = nullptr), record(event, s))
CUDACPU_API(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t s = nullptr, unsigned = 0),
            record(event, s))
CUDACPU_API(cudaEventSynchronize, (cudaEvent_t event), finish(event))
CUDACPU_API(cudaEventQuery, (cudaEvent_t event), query(event))
CUDACPU_API(cudaEventElapsedTime, (float* ms, cudaEvent_t start, cudaEvent_t stop), elapsed(ms, start, stop))

CUDACPU_API(cudaFuncSetAttribute, (auto f, cudaFuncAttribute a, int value), set_attribute(kernel_of(f), a, value))
CUDACPU_API(cudaFuncGetAttributes, (cudaFuncAttributes* a, auto f), give(a, attributes_of(kernel_of(f))))
CUDACPU_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int* blocks, auto f, int threads, size_t bytes),
            occupancy(blocks, kernel_of(f), threads, bytes))
CUDACPU_API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int* blocks, auto f, int threads, size_t bytes,
                                                                     unsigned),
            occupancy(blocks, kernel_of(f), threads, bytes))
CUDACPU_API(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t* bytes, auto f, int blocks, int threads),
            check(blocks > 0 && threads > 0 && threads <= most_threads(kernel_of(f))) ?:
                give(bytes, smaller<size_t>(shared_most, (228u << 10) / blocks - 1024)))
CUDACPU_API(cudaOccupancyMaxPotentialBlockSizeVariableSMem, (int* grid, int* block, auto f, auto bytes,
                                                             int limit = 1024),
            give(block, smaller(limit ?: 1024, most_threads(kernel_of(f))))
                ?: occupancy(grid, kernel_of(f), *block, bytes(*block)) ?: give(grid, *grid * sm_count))
CUDACPU_API(cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags, (int* grid, int* block, auto f, auto bytes,
                                                                      int limit = 1024, unsigned = 0),
            give(block, smaller(limit ?: 1024, most_threads(kernel_of(f))))
                ?: occupancy(grid, kernel_of(f), *block, bytes(*block)) ?: give(grid, *grid * sm_count))
CUDACPU_API(cudaOccupancyMaxPotentialBlockSize, (int* grid, int* block, auto f, size_t bytes = 0, int limit = 1024),
            give(block, smaller(limit ?: 1024, most_threads(kernel_of(f))))
                ?: occupancy(grid, kernel_of(f), *block, bytes) ?: give(grid, *grid * sm_count))
CUDACPU_API(cudaOccupancyMaxPotentialBlockSizeWithFlags, (int* grid, int* block, auto f, size_t bytes = 0,
                                                          int limit = 1024, unsigned = 0),
            give(block, smaller(limit ?: 1024, most_threads(kernel_of(f))))
                ?: occupancy(grid, kernel_of(f), *block, bytes) ?: give(grid, *grid * sm_count))
CUDACPU_API(cudaFuncGetName, (const char** name, auto f),
            check(kernel_of(f), cudaErrorInvalidDeviceFunction) ?: give(name, kernel_of(f)->name))
template <class... P> cudaError_t cudaLaunchKernel(
    void (*kernel)(P...), dim3 grid, dim3 block, void** arguments, size_t bytes = 0, cudaStream_t s = nullptr,
    CUDACPU_HERE, bool cooperative = false) {
    configure(grid, block, bytes, s, where, cooperative);
    [&]<size_t... I>(std::index_sequence<I...>) { kernel(*static_cast<P*>(arguments[I])...); }
        (std::index_sequence_for<P...>());
    launched();
    return tell(last_error);
}

template <class... P> cudaError_t cudaLaunchCooperativeKernel(
    void (*kernel)(P...), dim3 grid, dim3 block, void** arguments, size_t bytes = 0, cudaStream_t s = nullptr,
    CUDACPU_HERE) {
    return cudaLaunchKernel(kernel, grid, block, arguments, bytes, s, where, true);
}
inline void configure(const cudaLaunchConfig_t* c, Where where) {
    bool cooperative = false, early = false;
    for (unsigned i = 0; i < c->numAttrs; ++i) {
        const auto& [id, value] = c->attrs[i];
        cooperative |= id == cudaLaunchAttributeCooperative && value.cooperative;
        early |= id == cudaLaunchAttributeProgrammaticStreamSerialization && value.programmaticStreamSerializationAllowed;
    }
    configure(c->gridDim, c->blockDim, c->dynamicSmemBytes, c->stream, where, cooperative, early);
}
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* c, void (*kernel)(P...), A&&... a) {
    configure(c, Where::here());
    kernel(std::forward<A>(a)...);
    launched();
    return tell(last_error);
}
template <class... A> cudaError_t cudaLaunchKernel(const void*, A&&...) {
    static_assert(sizeof...(A) > 1000, "cudaLaunchKernel: give it the kernel itself, uncast: its type tells the arguments");
    return cudaErrorNotSupported;
}
// clang-format on

}  // namespace cudacpu::api
using namespace cudacpu::api;
