// errors.cpp - the errors of the API, sticky and other ones, and the messages at the end of the program.
#include "api/errors.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "api/fault_injection.hpp"
#include "api/stream_queue.hpp"
#include "engine/build.hpp"
#include "engine/reporting.hpp"
#include "engine/scheduler.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"
#include "memory/upcalls.hpp"

extern "C" __attribute__((weak)) const char lab_gives_advice;  // defined if the program prints the command itself

// Shared libraries with kernels have a CPU device. They and the program share this variable.
extern "C" __attribute__((visibility("default"))) int cudacpu_devices;
int cudacpu_devices;

namespace cudacpu {

cudaError_t last_error, sticky_error, untold;
bool told;
const char* api_function;
std::atomic<unsigned long> api_calls;
int (*write_output_files)() = [] { return 0; };

cudaError_t gate(const char* function) {
    if (in_kernel())
        fault(cudaErrorNotSupported, say({"a kernel calls %s", "核函数调用了 %s"}, function), "", nullptr);
    api_function = function;
    ++api_calls;
    if (std::exchange(told, false)) untold = cudaSuccess;
    if (auto e = failed(works_run ? cudaErrorNotPermitted : sticky_error)) return e;  // a callback called the API
    return injected_failure(function, api_calls);
}

const char* describe(cudaError_t error, bool by_name) {
#define CUDACPU_DESCRIBE(name, number, words) \
    case number:                              \
        return by_name ? "cuda" #name : words;
#define CUDACPU_NAME(name, number) CUDACPU_DESCRIBE(name, number, "cuda" #name)
    switch (error) { CUDACPU_ERRORS(CUDACPU_DESCRIBE) CUDACPU_OTHER_ERRORS(CUDACPU_NAME) }
    return "unrecognized error code";
}

namespace {

void at_program_end(int status, void*) {
    const OneCall no_helper;
    const auto [kernels, functions] = unfinished_work();
    if ((kernels || functions) && !status && !sticky_error && !runs_works) {
        const size_t count = kernels ? kernels : functions;
        print_report(opening(say(
            {"notice: the program ended without waiting for its last %zu %s%s:\non a GPU nobody knows how far they "
             "get; here they run now. Call cudaDeviceSynchronize()",
             "notice: 程序没有等待最后 %zu 个%s就结束了：\n在 GPU 上它们执行到哪里无法知道；这里现在执行。请调用 "
             "cudaDeviceSynchronize()"},
            count, kernels ? say({"kernel", "核函数"}) : say({"host function", "主机函数"}),
            count > 1 ? "s" : "")));
        finish_all();
        fflush(stdout);
    }
    check_all_canaries();
    if ((!status || getenv("LAB_FAIL")) && !sticky_error) report_leaks();
    if (untold && !told) exit_status = 1;
    if (const int failed_to_write = write_output_files()) fflush(nullptr), _exit(failed_to_write);
    // The program found its own result wrong, and no report explains it. With LAB_ORDER set the user is already
    // searching.
    if (plain_build && status == EXIT_FAILURE && kernel_ran && !has_reported && !&lab_gives_advice &&
        !getenv("LAB_ORDER"))
        print_report(opening(
            say({"notice: the program ended with status 1. Build it with --hazards to look for races, accesses "
                 "out of bounds and values that nobody has written",
                 "notice: 程序以状态 1 结束。用 --hazards 编译，可以查找数据竞争、越界访问和从未写入的值"})));
    if (status || !exit_status) return end_reports();
    print_report(say(hazard_build
                         ? Sentence{"cudacpu: hazards were found: exit status %d (the program's own was 0)",
                                    "cudacpu: 发现了隐患：退出状态 %d（程序自己的是 0）"}
                         : Sentence{"cudacpu: bugs were found: exit status %d (the program's own was 0)",
                                    "cudacpu: 发现了错误：退出状态 %d（程序自己的是 0）"},
                     exit_status));
    end_reports();
    fflush(nullptr);
    _exit(exit_status);
}
// Registered first, so it runs last: destructors of the program have freed their memory by then.
__attribute__((constructor(102))) void at_start() {
    if (cudacpu_devices++) {
        print_report(
            opening("the program and a shared library have different CPU devices: compile the program with "
                    "--cudart shared, and "
                    "select the build for all of CMake's targets with NVCC_APPEND_FLAGS, such as "
                    "NVCC_APPEND_FLAGS=--hazards"));
        _exit(2);
    }
    on_exit(at_program_end, nullptr);
}

}  // namespace

}  // namespace cudacpu
