// error.cuh - CHECK(call): every CUDA call can fail, and an error that is ignored shows up later, in another place.
//
//     CHECK(cudaMalloc(&p, bytes));
//     kernel<<<blocks, threads>>>(p);
//     CHECK(cudaGetLastError());       // was the launch legal?
//     CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
//
// If the call fails, CHECK prints the call, its place and CUDA's message on stderr, and for common errors also what
// to do. It then resets the device, which frees its memory, and ends the program with status 3. CHECK is active in
// every build type. (assert() disappears with NDEBUG.)
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call) check_cuda((call), #call, __FILE__, __LINE__)

/// Returns advice on a CUDA error, or null.
constexpr const char* cuda_advice(cudaError_t error) {
    switch (error) {
        case cudaErrorMemoryAllocation:
            return "use a smaller --n;\n    nvidia-smi shows which programs hold the GPU's memory";
        case cudaErrorInsufficientDriver:
            return "update NVIDIA's driver (make doctor shows the versions);\n    or type make run DEVICE=cpu";
        case cudaErrorDevicesUnavailable:
            return "end the other program on the GPU (nvidia-smi shows it);\n    or type make run DEVICE=cpu";
        case cudaErrorNoDevice:
            return "type make doctor to see why there is no device;\n    or type make run DEVICE=cpu";
        case cudaErrorInvalidDevice:
            return "use a device that nvidia-smi -L lists;\n    CUDA_VISIBLE_DEVICES hides and renumbers devices";
        case cudaErrorNoKernelImageForDevice: return "the build is for another GPU: type make clean, then make";
        case cudaErrorUnsupportedPtxVersion:
            return "the driver is older than nvcc: update it,\n    or build for this GPU only (see make doctor)";
        case cudaErrorIllegalAddress:
            return "an index is out of bounds; the CPU device names it above;\n    after a run on a GPU, use "
                   "build/hazards/NN_name or make try FILE=yours.cu";
        case cudaErrorInvalidValue:
            return "an argument is wrong: a pointer, the bytes or the direction;\n    or a block has over 1024 "
                   "threads. The CPU device says which";
        case cudaErrorInvalidConfiguration:
            return "a launch needs 1 to 1024 threads per block, and 1 block\n    or more: check <<<blocks, "
                   "threads>>>";
        default: return nullptr;
    }
}

/// Ends the program with status 3 unless `status` is cudaSuccess. Call it through CHECK.
inline void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
    if (status == cudaSuccess) return;
    std::fflush(stdout);
    std::fprintf(stderr, "%s:%d: %s failed\n    CUDA error %d, %s:\n    %s\n", file, line, call,
                 static_cast<int>(status), cudaGetErrorName(status), cudaGetErrorString(status));
    if (const char* advice = cuda_advice(status)) std::fprintf(stderr, "    What to do: %s\n", advice);
    cudaDeviceReset();  // frees the device memory: std::exit runs no destructors of local variables
    std::exit(3);
}
