// Where does the host wait, when is a source taken, when is a target there, and which directions are refused? Each
// call follows a kernel that runs for some 50 ms (or as many as its argument says), and at once the host looks: has
// the kernel ended? Then it changes the source, and waits. waits_h200.txt is what it is to print.
//   nvcc -std=c++17 -arch=native common/test/cpu/waits.cu -o waits && ./waits
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum Kind { pageable, pinned, managed, device };
const char* const names[] = {"pageable", "pinned", "managed", "device"};
const int kinds = 4;

static void must(cudaError_t e, int line) {
    if (e == cudaSuccess) return;
    std::printf("line %d: %s\n", line, cudaGetErrorName(e));
    std::exit(3);
}
#define MUST(call) must(call, __LINE__)

__global__ void busy(long long cycles, int* ended) {
    const long long start = clock64();
    while (clock64() - start < cycles) {}
    __threadfence_system();
    *ended = 1;
}

static long long cycles;
static volatile int* ended;     // pinned
static char* memory[2][kinds];  // targets, and sources
static const size_t most = 1 << 20;

static void begin() {
    *ended = 0;
    busy<<<1, 1>>>(cycles, const_cast<int*>(ended));
    MUST(cudaGetLastError());
}

// What the first byte of memory is, once the device has ended.
static int first_byte(const char* p) {
    char value;
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(&value, p, 1, cudaMemcpyDefault));
    return value;
}

static void copy(bool async, size_t bytes, Kind to, Kind from) {
    char *target = memory[0][to], *source = memory[1][from];
    MUST(cudaMemset(memory[0][device], 1, bytes));
    if (to != device) std::memset(target, 1, bytes);
    if (from != device) std::memset(source, 2, bytes);
    MUST(cudaDeviceSynchronize());
    begin();
    MUST(async ? cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault)
               : cudaMemcpy(target, source, bytes, cudaMemcpyDefault));
    const bool waited = *ended;
    const char* there = to == device ? "-" : *const_cast<volatile char*>(target) == 2 ? "there" : "not yet";
    if (from != device) std::memset(source, 3, bytes);
    const char* taken = from == device ? "-" : first_byte(target) == 2 ? "taken" : "not yet";
    MUST(cudaDeviceSynchronize());
    std::printf("%-15s %4zu KB %8s -> %-8s  host %-9s source %-8s target %s\n",
                async ? "cudaMemcpyAsync" : "cudaMemcpy", bytes >> 10, names[from], names[to],
                waited ? "waits" : "goes on", taken, there);
}

static void set(bool async, Kind to) {
    char* target = memory[0][to];
    if (to != device) std::memset(target, 1, 1024);
    MUST(cudaDeviceSynchronize());
    begin();
    MUST(async ? cudaMemsetAsync(target, 2, 1024) : cudaMemset(target, 2, 1024));
    const bool waited = *ended;
    const char* there = to == device ? "-" : *const_cast<volatile char*>(target) == 2 ? "there" : "not yet";
    MUST(cudaDeviceSynchronize());
    std::printf("%-15s    1 KB %-8s              host %-9s target %s\n", async ? "cudaMemsetAsync" : "cudaMemset",
                names[to], waited ? "waits" : "goes on", there);
}

int main(int argc, char** argv) {
    int kilohertz;
    MUST(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
    cycles = (long long)kilohertz * (argc > 1 ? std::atoi(argv[1]) : 50);
    MUST(cudaMallocHost((void**)&ended, sizeof *ended));
    for (auto& of : memory) {
        of[pageable] = static_cast<char*>(std::malloc(most));
        MUST(cudaMallocHost((void**)&of[pinned], most));
        MUST(cudaMallocManaged((void**)&of[managed], most));
        MUST(cudaMalloc((void**)&of[device], most));
        MUST(cudaMemset(of[device], 2, most));
    }
    begin();  // the first launch loads the program
    MUST(cudaDeviceSynchronize());
    for (const bool async : {false, true})
        for (const size_t bytes : {size_t{1024}, most})
            for (int to = 0; to < kinds; ++to)
                for (int from = 0; from < kinds; ++from) copy(async, bytes, Kind(to), Kind(from));
    for (const bool async : {false, true})
        for (const Kind to : {pinned, managed, device}) set(async, to);
    const char* const directions[] = {"HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice"};
    for (const int direction : {1, 2, 3, 0})
        for (int to = 0; to < kinds; ++to)
            for (int from = 0; from < kinds; ++from) {
                const cudaError_t e = cudaMemcpy(memory[0][to], memory[1][from], 1, cudaMemcpyKind(direction));
                std::printf("cudaMemcpy%-14s %8s -> %-8s  %s\n", directions[direction], names[from], names[to],
                            cudaGetErrorName(e));
                std::fflush(stdout);
                cudaGetLastError();
            }
    std::printf("cudaMemset pageable: %s\n", cudaGetErrorName(cudaMemset(memory[0][pageable], 2, 1)));
    cudaGetLastError();
    MUST(cudaDeviceSynchronize());
    for (auto& of : memory) {
        std::free(of[pageable]);
        MUST(cudaFreeHost(of[pinned]));
        MUST(cudaFree(of[managed]));
        MUST(cudaFree(of[device]));
    }
    MUST(cudaFreeHost(const_cast<int*>(ended)));
}
