// fiber.hpp - the stacks that CUDA threads run on, and the switch from one to another.
#pragma once
#include "cuda_runtime.h"

namespace cudacpu {

struct Fiber {
    void* context;       // where it resumes, or begins when it takes another thread
    const void* bottom;  // of the stack; the page below it is inaccessible
    size_t size;
    void* fake_stack;  // AddressSanitizer's
};
extern Fiber host_fiber;                   // the program's own stack
constexpr size_t local_bytes = 512 << 10;  // of a thread, as on a GPU
constexpr size_t stack_bytes = local_bytes + (64 << 10);
void free_fiber(Fiber* fiber);
void abandon_fibers();  // resets all fibers to their beginning
/// Resumes a thread, or the host (nullptr). `from` receives the place where the caller resumes.
void switch_to(Thread* thread, void** from);
bool on_own_stack(const void* address);
bool on_a_stack(const void* address);       // the stack of any thread
bool below_own_stack(const void* address);  // where a stack overflow ends

}  // namespace cudacpu
