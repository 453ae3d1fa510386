// kernel_launch.cpp - from <<<...>>> to the queue: the checks of a kernel launch.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
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
    if (!g.x || !g.y || !g.z) return say({"the grid has no blocks", "网格中没有线程块"});
    if (!threads) return say({"its blocks have no threads", "线程块中没有线程"});
    if (threads > 1024)
        return say({"a block has at most 1024 threads, not %lu", "线程块最多 1024 个线程，不能是 %lu 个"},
                   static_cast<unsigned long>(threads));
    if (b.z > 64) return say({"a block has at most 64 threads along z", "线程块在 z 方向最多 64 个线程"});
    if (g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        return say({"a grid has at most 2147483647 blocks along x, and 65535 along y and z",
                    "网格在 x 方向最多 2147483647 个线程块，在 y 和 z 方向最多 65535 个"});
    return "";
}
std::string no_launch(const Kernel& kernel, const Launch& l) {  // why not with this kernel
    const unsigned long threads = 1ul * l.block.x * l.block.y * l.block.z;
    const size_t most = std::max(limit_of_all, kernel.dynamic_limit);
    if (kernel.max_threads && threads > kernel.max_threads)
        return say(
            {"its __launch_bounds__ are %u threads, not %lu", "它的 __launch_bounds__ 是 %u 个线程，不是 %lu 个"},
            kernel.max_threads, threads);
    if (l.dynamic_bytes > most)
        return say({"%zu bytes of dynamic shared memory are more than %zu; cudaFuncSetAttribute raises that, to %d",
                    "动态共享内存 %zu 字节超过了 %zu；cudaFuncSetAttribute 可以提高上限，最多 %d"},
                   l.dynamic_bytes, most, shared_most);
    return "";
}

std::string too_many_blocks(const Launch& l) {  // too many to be resident together
    int most = 0;                               // per multiprocessor
    occupancy(&most, l.kernel, int(l.block.x * l.block.y * l.block.z), l.dynamic_bytes);
    most *= sm_count;
    const unsigned long blocks = 1ul * l.grid.x * l.grid.y * l.grid.z;
    if (blocks <= unsigned(most)) return "";
    return say(
        {"%lu blocks cannot be resident at the same time, only %d can", "%lu 个线程块不能同时驻留，最多 %d 个"},
        blocks, most);
}

}  // namespace

void configure(dim3 grid, dim3 block, size_t dynamic_bytes, CUstream_st* stream, Where where, bool cooperative,
               bool early) {
    if (in_kernel())
        fault(cudaErrorNotSupported,
              say({"a kernel is launched from a kernel (dynamic parallelism)", "核函数中启动了核函数（动态并行）"}),
              say({"the CPU device cannot do that: launch it from the host", "CPU 设备不支持：从主机启动它"}),
              &where);
    configured.push_back({grid, block, dynamic_bytes, stream, where, cooperative, early});
    ++begun;
}

bool launches_block;

void launched() {
    static const char* const asked = getenv("CUDA_LAUNCH_BLOCKING");
    if (configured.size() < begun--) {
        if (launches_block || (asked && !strcmp(asked, "1"))) finish_all();
        return;
    }
    print_report_once(compose_report(say({"a function that is not a kernel is launched: the host has called it",
                                          "启动的函数不是核函数：主机调用了它"}),
                                     say({"write __global__ before the function, or call it without <<<>>>",
                                          "在函数前面写 __global__，或者不用 <<<>>> 调用它"}),
                                     source_line(configured.back().where)));
    configured.pop_back();
    exit_status = 1;
}

void enqueue_kernel(Kernel& kernel, const Body& body, std::initializer_list<Argument> arguments) {
    const std::shared_ptr<void> owner(body.closure, [](void* p) { ::operator delete(p); });
    const OneCall call;
    if (probe) return void(*probe = &kernel);
    if (configured.empty())
        fault(cudaErrorInvalidConfiguration,
              say({"kernel %s is called like a function", "核函数 %s 被当作函数调用"}, kernel.name),
              say({"write %s<<<blocks, threads>>>(...)", "写 %s<<<线程块数, 线程数>>>(...)"}, kernel.name),
              nullptr);
    Launch l = configured.back();
    configured.pop_back();
    l.kernel = &kernel, l.body = body, l.owner = owner, l.arguments = arguments;
    std::istringstream names(kernel.parameters);
    std::string name;
    Report refused;
    for (const Argument& a : arguments) {
        const void* const p = a.pointer;
        std::getline(names, name, ',');
        if (!refused.text.empty() || !p || find(p) || (is_global(p) && !is_of_host(p))) continue;
        unsigned char resident;  // a value that is not an address causes a fault when it is used
        if (mincore((void*)(uintptr_t(p) & ~(page - 1)), 1, &resident)) continue;
        refused =
            compose_report(say({"kernel %s is given a pointer to host memory, as argument %td (%s)",
                                "核函数 %s 的第 %td 个参数（%s）是指向主机内存的指针"},
                               kernel.name, &a - arguments.begin() + 1, name),
                           say({"give it memory from cudaMalloc or cudaMallocManaged, and copy with cudaMemcpy",
                                "传给它 cudaMalloc 或 cudaMallocManaged 的内存，并用 cudaMemcpy 复制"}),
                           source_line(l.where), "host-memory");
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
        const std::string mend =
            !l.grid.x ? say({"n / threads rounds down, (n + threads - 1) / threads does not; ",
                             "n / threads 向下取整，(n + threads - 1) / threads 向上取整；"})
            : 1ul * l.block.x * l.block.y * l.block.z > 1024
                ? say({"take more blocks of fewer threads; ", "用更多线程块，每块少一些线程；"})
                : "";
        print_report_once(compose_report(
            say({"notice: kernel %s is not launched: %s", "notice: 核函数 %s 没有启动：%s"}, kernel.name, why),
            mend + say({"after each launch ask cudaGetLastError()", "每次启动之后都要查 cudaGetLastError()"}),
            source_line(l.where)));  // a loop may launch it many times
        return void(untold = failed(error));
    }
    auto work = [l, refused] {
        if (refused.text.empty()) return run_launch(l);
        print_report(refused);
        return cudaErrorIllegalAddress;
    };
    if (enqueue(l.stream, work, true, l.early) != cudaSuccess) return;
    for (const Argument& a : arguments) await_kernel(a.pointer);
}

}  // namespace cudacpu
