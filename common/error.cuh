// error.cuh - CHECK(call): every CUDA call can fail, and a failure that nobody looks at turns up later, elsewhere.
//
//     CHECK(cudaMalloc(&p, bytes));
//     kernel<<<blocks, threads>>>(p);
//     CHECK(cudaGetLastError());       // was the launch legal?
//     CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
//
// On failure it says which call, where, CUDA's own words and, where beginners meet the error, what to do, all on
// stderr, and ends the program with status 3; what the program holds on the device is given back first.
// It is active in every build type: a check that vanishes with NDEBUG checks nothing when it matters.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call) check_cuda((call), #call, __FILE__, __LINE__)

/// What to do about a CUDA error, or null.
constexpr const char* cuda_advice(cudaError_t error) {
    switch (error) {
        case cudaErrorMemoryAllocation:
            return "take a smaller --n;\n    nvidia-smi shows which programs hold the GPU's memory";
        case cudaErrorInsufficientDriver:
            return "install or update NVIDIA's driver, make doctor compares;\n    or type make run DEVICE=cpu";
        case cudaErrorDevicesUnavailable:
            return "end the other program on the GPU, nvidia-smi shows it;\n    or type make run DEVICE=cpu";
        case cudaErrorNoDevice:
            return "type make doctor, it says why there is no device;\n    or type make run DEVICE=cpu";
        case cudaErrorInvalidDevice:
            return "take a device that nvidia-smi -L lists;\n    CUDA_VISIBLE_DEVICES hides and renumbers them";
        case cudaErrorNoKernelImageForDevice: return "the build is for another GPU: type make clean, then make";
        case cudaErrorUnsupportedPtxVersion:
            return "the driver is older than nvcc: update it,\n    or build for this GPU alone, see make doctor";
        case cudaErrorIllegalAddress:
            return "an index is out of bounds; on the CPU device the lines above\n    name it, after a GPU's "
                   "run build/hazards/NN_name does, or cudacpu FILE.cu";
        case cudaErrorInvalidValue:
            return "an argument is wrong: a pointer, the bytes or the direction;\n    or a block has over 1024 "
                   "threads. Without a GPU the program says which";
        case cudaErrorInvalidConfiguration:
            return "a launch has 1 to 1024 threads a block, and 1 block\n    or more: look at <<<blocks, "
                   "threads>>>";
        default: return nullptr;
    }
}

/// Ends the program with status 3 unless `status` is cudaSuccess. Meant to be called through CHECK.
inline void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
    if (status == cudaSuccess) return;
    std::fflush(stdout);
    std::fprintf(stderr, "%s:%d: %s failed\n    CUDA error %d, %s:\n    %s\n", file, line, call,
                 static_cast<int>(status), cudaGetErrorName(status), cudaGetErrorString(status));
    if (const char* advice = cuda_advice(status)) std::fprintf(stderr, "    What to do: %s\n", advice);
    cudaDeviceReset();  // std::exit unwinds no stack: no owner frees what it holds
    std::exit(3);
}
