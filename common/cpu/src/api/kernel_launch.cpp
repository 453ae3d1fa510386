// kernel_launch.cpp - from <<<...>>> to the queue: the checks of a kernel launch.
#include <sys/mman.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "api/stream_queue.hpp"
#include "engine/build.hpp"
#include "engine/launch.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"
#include "memory/early_access.hpp"

namespace cudacpu {

const HostVariable* HostVariable::last;
Kernel** probe;
alignas(256) char blank_argument[4 << 10];

namespace {

thread_local std::vector<Launch> configured;  // arguments of a launch may contain another launch
thread_local size_t begun;                    // launches, counted up to launched()

bool is_of_host(const void* p) {
    if (const HostsCopy* const c = hosts_copy(p)) return !c->address_asked;
    for (const HostVariable* v = HostVariable::last; v; v = v->before)
        if (size_t(static_cast<const char*>(p) - static_cast<const char*>(v->start)) < v->bytes) return true;
    return false;
}

std::string no_launch(dim3 g, dim3 b) {  // why no GPU accepts this grid and block; empty if one does
    const uint64_t threads = uint64_t(b.x) * b.y * b.z;
    if (!g.x || !g.y || !g.z) return "the grid has no blocks";
    if (!threads) return "its blocks have no threads";
    if (threads > 1024)
        return text("a block has at most 1024 threads, not %lu", static_cast<unsigned long>(threads));
    if (b.z > 64) return "a block has at most 64 threads along z";
    if (g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        return "a grid has at most 2147483647 blocks along x, and 65535 along y and z";
    return "";
}
std::string no_launch(const Kernel& kernel, const Launch& l) {  // why not with this kernel
    const unsigned long threads = 1ul * l.block.x * l.block.y * l.block.z;
    const size_t most = std::max(limit_of_all, kernel.dynamic_limit);
    if (kernel.max_threads && threads > kernel.max_threads)
        return text("its __launch_bounds__ are %u threads, not %lu", kernel.max_threads, threads);
    if (l.dynamic_bytes > most)
        return text("%zu bytes of dynamic shared memory are more than %zu; cudaFuncSetAttribute raises that, to %d",
                    l.dynamic_bytes, most, shared_most);
    return "";
}

std::string too_many_blocks(const Launch& l) {  // too many to be resident together
    int most = 0;                               // per multiprocessor
    occupancy(&most, l.kernel, int(l.block.x * l.block.y * l.block.z), l.dynamic_bytes);
    most *= sm_count;
    const unsigned long blocks = 1ul * l.grid.x * l.grid.y * l.grid.z;
    if (blocks <= unsigned(most)) return "";
    return text("%lu blocks cannot be resident at the same time, only %d can", blocks, most);
}

}  // namespace

void configure(dim3 grid, dim3 block, size_t dynamic_bytes, CUstream_st* stream, Where where, bool cooperative,
               bool early) {
    if (in_kernel())
        fault(cudaErrorNotSupported, "a kernel is launched from a kernel (dynamic parallelism)",
              "the CPU device cannot do that: launch it from the host", &where);
    configured.push_back({grid, block, dynamic_bytes, stream, where, cooperative, early});
    ++begun;
}

void launched() {
    if (configured.size() < begun--) return;
    print_report_once(compose_report("a function that is not a kernel is launched: the host has called it",
                                     "write __global__ before the function, or call it without <<<>>>",
                                     source_line(configured.back().where)));
    configured.pop_back();
    exit_status = 1;
}

void enqueue_kernel(Kernel& kernel, const Body& body, std::initializer_list<const void*> arguments) {
    const std::shared_ptr<void> owner(body.closure, [](void* p) { ::operator delete(p); });
    const OneCall call;
    if (probe) return void(*probe = &kernel);
    if (configured.empty())
        fault(cudaErrorInvalidConfiguration, text("kernel %s is called like a function", kernel.name),
              text("write %s<<<blocks, threads>>>(...)", kernel.name), nullptr);
    Launch l = configured.back();
    configured.pop_back();
    l.kernel = &kernel, l.body = body, l.owner = owner, l.arguments = arguments;
    std::istringstream names(kernel.parameters);
    std::string name, refused;
    for (const void* const& p : arguments) {
        std::getline(names, name, ',');
        if (!refused.empty() || !p || find(p) || (is_global(p) && !is_of_host(p))) continue;
        unsigned char resident;  // a value that is not an address causes a fault when it is used
        if (mincore((void*)(uintptr_t(p) & ~(page - 1)), 1, &resident)) continue;
        refused = compose_report(text("kernel %s is given a pointer to host memory, as argument %td (%s)",
                                      kernel.name, &p - arguments.begin() + 1, name.c_str()),
                                 "give it memory from cudaMalloc or cudaMallocManaged, and copy with cudaMemcpy",
                                 source_line(l.where));
    }
    if (gate("a kernel launch") != cudaSuccess) return;
    std::string why = no_launch(l.grid, l.block);
    cudaError_t error = why.empty() ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;
    if (why.empty()) why = no_launch(kernel, l);
    if (why.empty() && l.cooperative) {
        why = too_many_blocks(l);
        error = cudaErrorCooperativeLaunchTooLarge;
    }
    if (!why.empty()) {
        const char* const mend = !l.grid.x ? "n / threads rounds down, (n + threads - 1) / threads does not; "
                                 : 1ul * l.block.x * l.block.y * l.block.z > 1024
                                     ? "take more blocks of fewer threads; "
                                     : "";
        print_report_once(compose_report(text("notice: kernel %s is not launched: %s", kernel.name, why.c_str()),
                                         std::string(mend) + "after each launch ask cudaGetLastError()",
                                         source_line(l.where)));  // a loop may launch it many times
        return void(untold = failed(error));
    }
    auto work = [l, refused] {
        if (refused.empty()) return run_launch(l);
        print_report(refused);
        return cudaErrorIllegalAddress;
    };
    if (enqueue(l.stream, work, true, l.early) != cudaSuccess) return;
    for (const void* p : arguments) await_kernel(p);
}

}  // namespace cudacpu
