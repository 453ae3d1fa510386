// internal.hpp - what the parts of the engine know of each other, and the program does not.
#pragma once
#include <functional>
#include <string>

#include "cuda_runtime.h"

namespace cudacpu {

#ifdef CUDACPU_HAZARDS
constexpr bool hazard_build = true;
#define CUDACPU_HAZARD_HOOK(declaration) void declaration
#else
constexpr bool hazard_build = false;
#define CUDACPU_HAZARD_HOOK(declaration) \
    inline void declaration {}
#endif

// ---- memory.cpp ------------------------------------------------------------------------------------------

namespace hazards {
struct Shadow;
}
struct Region {  // memory that the device may use
    char* start;
    size_t bytes;
    Kind kind;
    char* base;    // the pages that hold it ...
    size_t pages;  // ... in bytes, without the inaccessible page that follows
    Where where;
    bool freed = false;
    hazards::Shadow* shadow = nullptr;  // the hazard build's notes about it
};
Region* find(const void* address);  // the region, or the inaccessible page behind it
char* map_before_guard(size_t bytes, size_t alignment, char** base, size_t* pages);
Region* add_region(const Region& region);
void device_takes_over(bool device);       // whether device memory may be touched
void managed_in_use(bool by_device);       // whether the host may touch managed memory
std::string explain(const void* address);  // "byte 400 of the 400 bytes that ... allocated", or ""
bool is_global(const void* address);       // a variable of the program
void report_leaks();

// ---- engine.cpp ------------------------------------------------------------------------------------------

struct Launch {
    dim3 grid, block;
    size_t dynamic_bytes;
    CUstream_st* stream;
    Where where;
    Kernel* kernel = nullptr;
    Body body{};
};
/// Reports what goes wrong at a line, and how to mend it; the kernel ends with the error, or the program does.
[[noreturn]] void fault(cudaError_t error, const std::string& what, const std::string& mend, const Where* where,
                        const void* pc = nullptr);
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string source_line(const void* pc);  // "sum.cu:12", from the debug information
std::string source_line(Where where);
std::string thread_name();             // "block (0,0,0), thread (5,0,0)"
void say(const std::string& message);  // on stderr, after all that stdout has
unsigned random_number();
void preempt();               // another thread of the block, if any is ready, goes on
extern const Launch* launch;  // that now runs
extern uint64_t block_number;
extern int exit_status;  // for a program that else would end with 0
bool on_own_stack(const void* address);
unsigned threads_in_block();

// ---- runtime.cpp -----------------------------------------------------------------------------------------

extern const char* api_function;  // the one that last passed the gate
bool work_is_queued();

// ---- hazards.cpp, of the hazard build only ---------------------------------------------------------------

namespace hazards {
CUDACPU_HAZARD_HOOK(launch_begins());
CUDACPU_HAZARD_HOOK(launch_ends());
CUDACPU_HAZARD_HOOK(block_begins());
CUDACPU_HAZARD_HOOK(barrier_passed());
CUDACPU_HAZARD_HOOK(lanes_met(unsigned /*first_thread*/, unsigned /*lanes*/));
CUDACPU_HAZARD_HOOK(at_atomic(void* /*address*/, unsigned /*bytes*/, bool /*compare*/, Where));
CUDACPU_HAZARD_HOOK(at_fence());
CUDACPU_HAZARD_HOOK(region_added(Region&));
CUDACPU_HAZARD_HOOK(region_fresh(Region&));  // a new block: nothing in it is written yet
CUDACPU_HAZARD_HOOK(bytes_written(Region&, size_t /*offset*/, size_t /*bytes*/));
CUDACPU_HAZARD_HOOK(region_gone(Region&));
}  // namespace hazards

}  // namespace cudacpu
