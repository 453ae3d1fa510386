// cuda_runtime_api.h - the runtime API, as far as the CPU device has it, with CUDA's own names and numbers.
#pragma once
#include <type_traits>
#include <utility>

#include "engine.hpp"

#define CUDART_VERSION 13000

#define CUDACPU_ERRORS(X) \
    X(Success, 0, "no error") X(ErrorInvalidValue, 1, "invalid argument") \
    X(ErrorMemoryAllocation, 2, "out of memory") X(ErrorInitializationError, 3, "initialization error") \
    X(ErrorInvalidConfiguration, 9, "invalid configuration argument") \
    X(ErrorInvalidPitchValue, 12, "invalid pitch argument") \
    X(ErrorInvalidSymbol, 13, "invalid device symbol") \
    X(ErrorInvalidHostPointer, 16, "invalid host pointer") \
    X(ErrorInvalidDevicePointer, 17, "invalid device pointer") \
    X(ErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy") \
    X(ErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
    X(ErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable") \
    X(ErrorMissingConfiguration, 52, "__global__ function call is not configured") \
    X(ErrorInvalidDeviceFunction, 98, "invalid device function") \
    X(ErrorNoDevice, 100, "no CUDA-capable device is detected") \
    X(ErrorInvalidDevice, 101, "invalid device ordinal") \
    X(ErrorInvalidKernelImage, 200, "device kernel image is invalid") \
    X(ErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
    X(ErrorECCUncorrectable, 214, "uncorrectable ECC error encountered") \
    X(ErrorUnsupportedLimit, 215, "limit is not supported on this architecture") \
    X(ErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices") \
    X(ErrorInvalidPtx, 218, "a PTX JIT compilation failed") X(ErrorFileNotFound, 301, "file not found") \
    X(ErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS") \
    X(ErrorInvalidResourceHandle, 400, "invalid resource handle") \
    X(ErrorIllegalState, 401, "the operation cannot be performed in the present state") \
    X(ErrorSymbolNotFound, 500, "named symbol not found") X(ErrorNotReady, 600, "device not ready") \
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
    X(ErrorNotSupported, 801, "operation not supported") X(ErrorUnknown, 999, "unknown error")

enum cudaError : int {
#define CUDACPU_ERROR(name, number, words) cuda##name = number,
    CUDACPU_ERRORS(CUDACPU_ERROR)
#undef CUDACPU_ERROR
};
using cudaError_t = cudaError;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaFuncCache {
    cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual
};
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited };
enum cudaMemoryType {
    cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged
};
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly, cudaMemAdviseSetPreferredLocation,
    cudaMemAdviseUnsetPreferredLocation, cudaMemAdviseSetAccessedBy, cudaMemAdviseUnsetAccessedBy
};
enum cudaMemLocationType {
    cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost,
    cudaMemLocationTypeHostNuma, cudaMemLocationTypeHostNumaCurrent
};
struct cudaMemLocation {
    cudaMemLocationType type;
    int id;
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY,
    cudaDevAttrMaxBlockDimZ, cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ,
    cudaDevAttrMaxSharedMemoryPerBlock, cudaDevAttrTotalConstantMemory, cudaDevAttrWarpSize,
    cudaDevAttrMaxPitch, cudaDevAttrMaxRegistersPerBlock, cudaDevAttrClockRate, cudaDevAttrTextureAlignment,
    cudaDevAttrGpuOverlap, cudaDevAttrMultiProcessorCount, cudaDevAttrKernelExecTimeout,
    cudaDevAttrIntegrated, cudaDevAttrCanMapHostMemory, cudaDevAttrComputeMode,
    cudaDevAttrConcurrentKernels = 31, cudaDevAttrEccEnabled, cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth, cudaDevAttrL2CacheSize, cudaDevAttrMaxThreadsPerMultiProcessor,
    cudaDevAttrAsyncEngineCount, cudaDevAttrUnifiedAddressing, cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor, cudaDevAttrManagedMemory, cudaDevAttrPageableMemoryAccess = 88,
    cudaDevAttrConcurrentManagedAccess, cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, cudaDevAttrMaxBlocksPerMultiprocessor = 106,
    cudaDevAttrMemoryPoolsSupported = 115
};
enum : unsigned {
    cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaHostAllocDefault = 0, cudaHostAllocPortable = 1,
    cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4, cudaHostRegisterDefault = 0,
    cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2, cudaEventDefault = 0, cudaEventBlockingSync = 1,
    cudaEventDisableTiming = 2, cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaDeviceMapHost = 8,
    cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
    cudaDeviceScheduleBlockingSync = 4, cudaOccupancyDefault = 0
};
constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;

// CUDA 13's members, and the clock rates that CUDA 12 still had.
struct cudaUUID_t {
    char bytes[16];
};
struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem, sharedMemPerBlock, memPitch, totalConstMem, textureAlignment;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], major, minor;
    int multiProcessorCount, integrated, canMapHostMemory, concurrentKernels, ECCEnabled;
    int pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing;
    int memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin, reservedSharedMemPerBlock;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, hostNativeAtomicSupported;
    int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, cooperativeLaunch;
    int maxBlocksPerMultiProcessor, hostRegisterSupported, memoryPoolsSupported, clusterLaunch;
    int clockRate, memoryClockRate, deviceOverlap, kernelExecTimeoutEnabled, computeMode;
};
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes;
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};
struct CUevent_st;
using cudaEvent_t = CUevent_st*;
using cudaStream_t = CUstream_st*;
using cudaHostFn_t = void (*)(void*);
using cudaStreamCallback_t = void (*)(cudaStream_t, cudaError_t, void*);
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)

// ---- errors, device --------------------------------------------------------------------------------------

cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t);
const char* cudaGetErrorString(cudaError_t);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaGetDevice(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaSetDeviceFlags(unsigned);
cudaError_t cudaChooseDevice(int*, const cudaDeviceProp*);
cudaError_t cudaRuntimeGetVersion(int*);
cudaError_t cudaDriverGetVersion(int*);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int device);
cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int device);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaDeviceCanAccessPeer(int*, int device, int peer);
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t);
cudaError_t cudaDeviceGetLimit(size_t*, cudaLimit);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

// ---- memory: `where` lets a report say which line allocated it -------------------------------------------

cudaError_t cudaMalloc(void**, size_t, CUDACPU_HERE);
cudaError_t cudaMallocManaged(void**, size_t, unsigned flags = cudaMemAttachGlobal, CUDACPU_HERE);
cudaError_t cudaHostAlloc(void**, size_t, unsigned flags, CUDACPU_HERE);
cudaError_t cudaMallocHost(void**, size_t, unsigned flags = 0, CUDACPU_HERE);
cudaError_t cudaMallocAsync(void**, size_t, cudaStream_t, CUDACPU_HERE);
cudaError_t cudaMallocPitch(void**, size_t* pitch, size_t width, size_t height, CUDACPU_HERE);
cudaError_t cudaFree(void*);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaHostRegister(void*, size_t, unsigned flags = 0);
cudaError_t cudaHostUnregister(void*);
cudaError_t cudaHostGetDevicePointer(void**, void* host, unsigned flags = 0);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind = cudaMemcpyDefault,
                            cudaStream_t = nullptr);
cudaError_t cudaMemcpy2D(void*, size_t, const void*, size_t, size_t width, size_t height, cudaMemcpyKind);
cudaError_t cudaMemcpy2DAsync(void*, size_t, const void*, size_t, size_t width, size_t height, cudaMemcpyKind,
                              cudaStream_t = nullptr);
cudaError_t cudaMemset(void*, int, size_t);
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t = nullptr);
cudaError_t cudaMemset2D(void*, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned flags,
                                 cudaStream_t = nullptr);
cudaError_t cudaMemPrefetchAsync(const void*, size_t, int device, cudaStream_t = nullptr);
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation);
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int device);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t = 0, unsigned flags = 4);

template <class T>
cudaError_t cudaMalloc(T** p, size_t n, CUDACPU_HERE) {
    return cudaMalloc((void**)p, n, where);
}
template <class T>
cudaError_t cudaMallocManaged(T** p, size_t n, unsigned f = cudaMemAttachGlobal, CUDACPU_HERE) {
    return cudaMallocManaged((void**)p, n, f, where);
}
template <class T>
cudaError_t cudaMallocHost(T** p, size_t n, unsigned f = 0, CUDACPU_HERE) {
    return cudaMallocHost((void**)p, n, f, where);
}
template <class T>
cudaError_t cudaHostAlloc(T** p, size_t n, unsigned f, CUDACPU_HERE) {
    return cudaHostAlloc((void**)p, n, f, where);
}
template <class T>
cudaError_t cudaMallocAsync(T** p, size_t n, cudaStream_t s, CUDACPU_HERE) {
    return cudaMallocAsync((void**)p, n, s, where);
}
template <class T>
cudaError_t cudaMallocPitch(T** p, size_t* pitch, size_t w, size_t h, CUDACPU_HERE) {
    return cudaMallocPitch((void**)p, pitch, w, h, where);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** p, void* host, unsigned flags = 0) {
    return cudaHostGetDevicePointer((void**)p, host, flags);
}

// Symbols (`__device__`, `__constant__` and `__managed__` variables) are variables of the program.
namespace cudacpu {
cudaError_t copy_symbol(void* symbol, size_t size, size_t offset, void* host, const void* from, size_t bytes,
                        cudaMemcpyKind kind, cudaStream_t stream, bool wait);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
    return cudacpu::copy_symbol((void*)&symbol, sizeof(T), offset, nullptr, from, bytes, kind, stream, false);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
    return cudacpu::copy_symbol((void*)&symbol, sizeof(T), offset, to, nullptr, bytes, kind, stream, false);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return cudacpu::copy_symbol((void*)&symbol, sizeof(T), offset, nullptr, from, bytes, kind, nullptr, true);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return cudacpu::copy_symbol((void*)&symbol, sizeof(T), offset, to, nullptr, bytes, kind, nullptr, true);
}
template <class T, class S>
cudaError_t cudaGetSymbolAddress(T** p, const S& symbol) {
    *p = (T*)&symbol;
    return cudaSuccess;
}
template <class S>
cudaError_t cudaGetSymbolSize(size_t* size, const S&) {
    *size = sizeof(S);
    return cudaSuccess;
}

// ---- streams and events ----------------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t*, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned flags = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void* data);
cudaError_t cudaStreamAddCallback(cudaStream_t, cudaStreamCallback_t, void* data, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventCreate(cudaEvent_t*, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop);

// ---- kernels as objects ----------------------------------------------------------------------------------

namespace cudacpu {
template <class T>
T& blank() {
    alignas(T) static char bytes[sizeof(T)];
    return reinterpret_cast<T&>(bytes);
}
template <class... P>
Kernel* kernel_of(void (*function)(P...)) {  // a call of the kernel that only makes it say who it is
    Kernel* kernel = nullptr;
    probe = &kernel;
    function(blank<P>()...);
    probe = nullptr;
    return kernel;
}
inline Kernel* kernel_of(const void*) { return nullptr; }  // its type is lost: what is set, is set for all
cudaError_t set_attribute(Kernel*, cudaFuncAttribute, int value);
cudaError_t get_attributes(cudaFuncAttributes*, const Kernel*);
cudaError_t blocks_per_sm(int* blocks, const Kernel*, int threads, size_t dynamic_bytes);
cudaError_t gate(const char* function);
}  // namespace cudacpu

template <class F>
cudaError_t cudaFuncSetAttribute(F f, cudaFuncAttribute attribute, int value) {
    return cudacpu::set_attribute(cudacpu::kernel_of(f), attribute, value);
}
template <class F>
cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) {
    return cudacpu::gate("cudaFuncSetCacheConfig");
}
template <class F>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, F f) {
    return cudacpu::get_attributes(a, cudacpu::kernel_of(f));
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F f, int threads,
                                                          size_t dynamic_bytes) {
    return cudacpu::blocks_per_sm(blocks, cudacpu::kernel_of(f), threads, dynamic_bytes);
}
template <class F>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, F f, size_t = 0, int limit = 0) {
    *block = limit ? limit : 1024;
    const cudaError_t e = cudacpu::blocks_per_sm(grid, cudacpu::kernel_of(f), *block, 0);
    *grid *= 4;  // the SMs of the CPU device
    return e;
}
template <class... P>
cudaError_t cudaLaunchKernel(void (*f)(P...), dim3 grid, dim3 block, void** arguments,
                             size_t dynamic_bytes = 0, cudaStream_t stream = nullptr, CUDACPU_HERE) {
    cudacpu::configure(grid, block, dynamic_bytes, stream, where);
    [&]<size_t... I>(std::index_sequence<I...>) {
        f(*static_cast<std::remove_reference_t<P>*>(arguments[I])...);
    }
    (std::index_sequence_for<P...>());
    return cudaPeekAtLastError();
}

// What the CPU device cannot do says so when it is compiled.
#define CUDACPU_REFUSED(name, what) \
    template <class... A> \
    cudaError_t name(A&&...) { \
        static_assert(sizeof...(A) > 1000, #name ": the CPU device has no " what); \
        return cudaErrorNotSupported; \
    }
CUDACPU_REFUSED(cudaLaunchCooperativeKernel, "grid-wide synchronisation: its blocks run one after another")
CUDACPU_REFUSED(cudaLaunchKernelEx, "clusters or launch attributes; write kernel<<<grid, block>>>(...)")
CUDACPU_REFUSED(cudaLaunchKernelExC, "clusters or launch attributes; write kernel<<<grid, block>>>(...)")
CUDACPU_REFUSED(cudaGraphCreate, "graphs; launch the kernels one by one")
CUDACPU_REFUSED(cudaGraphInstantiate, "graphs; launch the kernels one by one")
CUDACPU_REFUSED(cudaGraphLaunch, "graphs; launch the kernels one by one")
CUDACPU_REFUSED(cudaStreamBeginCapture, "graphs; launch the kernels one by one")
CUDACPU_REFUSED(cudaStreamEndCapture, "graphs; launch the kernels one by one")
CUDACPU_REFUSED(cudaCreateTextureObject, "textures; read the array by its index")
CUDACPU_REFUSED(cudaCreateSurfaceObject, "surfaces; write the array by its index")
CUDACPU_REFUSED(cudaMallocArray, "CUDA arrays (textures); use cudaMallocPitch")
CUDACPU_REFUSED(cudaMalloc3D, "3-D allocations; use cudaMalloc and compute the index")
CUDACPU_REFUSED(cudaMemcpy3D, "3-D copies; use cudaMemcpy2D, slice by slice")
CUDACPU_REFUSED(cudaMemPoolCreate, "memory pools; use cudaMalloc")
CUDACPU_REFUSED(cudaDeviceEnablePeerAccess, "peers: there is one device")
CUDACPU_REFUSED(cudaMemcpyPeer, "peers: there is one device")
CUDACPU_REFUSED(cudaIpcGetMemHandle, "memory shared between processes")
CUDACPU_REFUSED(tex1Dfetch, "textures; read the array by its index")
CUDACPU_REFUSED(tex2D, "textures; read the array by its index")
CUDACPU_REFUSED(surf2Dwrite, "surfaces; write the array by its index")
