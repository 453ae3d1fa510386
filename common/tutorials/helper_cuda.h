// helper_cuda.h - for programs that include <helper_cuda.h>: defines checkCudaErrors(), getLastCudaError() and
// findCudaDevice().
#pragma once
#include "../error.cuh"

#include <cstring>

/// Ends the program with status 3 if the CUDA call failed. The same as CHECK.
#define checkCudaErrors(call) CHECK(call)

/// Ends the program with status 3 if an earlier launch or call failed. `message` says what the program was doing.
#define getLastCudaError(message) check_cuda(cudaGetLastError(), message, __FILE__, __LINE__)

/// Chooses a device, prints its name, and returns its number. By default it is the device with the most
/// multiprocessors; --device=N or -device=N selects another. Ends the program with status 2 if N is not a device,
/// and with status 3 if there is no device.
inline int findCudaDevice(int argc, const char** argv) {
    int devices = 0, chosen = 0, most = 0;
    CHECK(cudaGetDeviceCount(&devices));
    for (int device = 0; device < devices; ++device) {
        int multiprocessors = 0;
        CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
        if (multiprocessors <= most) continue;
        most = multiprocessors;
        chosen = device;
    }
    for (int i = 1; i < argc; ++i) {
        const char* option = argv[i] + std::strspn(argv[i], "-");
        if (option == argv[i] || std::strncmp(option, "device=", 7) != 0) continue;
        char* end = nullptr;
        const long number = std::strtol(option + 7, &end, 10);
        if (end == option + 7 || *end || number < 0 || number >= devices) {
            std::fprintf(stderr, "%s is not a device; type --device=0%s\n", argv[i],
                         devices > 1 ? " or higher" : "");
            std::exit(2);
        }
        chosen = static_cast<int>(number);
    }
    cudaDeviceProp properties{};
    CHECK(cudaSetDevice(chosen));
    CHECK(cudaGetDeviceProperties(&properties, chosen));
    std::printf("GPU %d: %s, compute capability %d.%d\n", chosen, properties.name, properties.major,
                properties.minor);
    return chosen;
}
