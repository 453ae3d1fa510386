// fiber.cpp - the stacks that CUDA threads run on, and the switch from one to another.
#include "engine/fiber.hpp"

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <deque>
#include <utility>
#include <vector>

#include "engine/build.hpp"
#include "engine/scheduler.hpp"

using namespace boost::context::detail;

namespace cudacpu {

Fiber host_fiber;

#ifndef CUDACPU_SWITCH
void switch_stacks(void** from, void* to) {
    const transfer_t t = jump_fcontext(to, from);
    *static_cast<void**>(t.data) = t.fctx;
}
#endif

namespace {

std::deque<Fiber> fibers CUDACPU_LASTING;  // all fibers; blocks use them one after the other
std::vector<Fiber*> spare CUDACPU_LASTING;
Fiber* left;  // the fiber that the last switch left

void arrive() {  // runs first when a fiber resumes
    if constexpr (asan_build)
        __sanitizer_finish_switch_fiber(current_fiber->fake_stack, &left->bottom, &left->size);
}

#ifdef CUDACPU_SWITCH
void fiber_main() {
    arrive();
    run_threads();
}
void* begin(char* top) {  // simulates a call of fiber_main
    void** const stack = reinterpret_cast<void**>(top) - 4;
    stack[0] = reinterpret_cast<void*>(fiber_main);
    stack[1] = stack[2] = stack[3] = nullptr;
    return stack;
}
#else
void fiber_main(transfer_t t) {
    *static_cast<void**>(t.data) = t.fctx;
    arrive();
    run_threads();
}
void* begin(char* top) { return make_fcontext(top, stack_bytes - page, fiber_main); }
#endif

void prepare(Fiber& f) {  // resets it to its beginning
    ASAN_UNPOISON_MEMORY_REGION(f.bottom, f.size);
    f.context = begin((char*)f.bottom + f.size);
    spare.push_back(&f);
}

Fiber* take_fiber() {
    if (spare.empty()) {
        const auto stack = boost::context::protected_fixedsize_stack(stack_bytes).allocate();
        // Stack tops at different offsets do not compete for the same cache lines.
        const size_t size = stack_bytes - fibers.size() % 61 * 64;
        prepare(fibers.emplace_back(Fiber{nullptr, static_cast<char*>(stack.sp) - stack_bytes, size, nullptr}));
    }
    Fiber* f = spare.back();
    spare.pop_back();
    return f;
}

}  // namespace

void free_fiber(Fiber* fiber) { spare.push_back(fiber); }

void abandon_fibers() {
    spare.clear();
    for (Fiber& f : fibers) prepare(f);
}

void switch_to(Thread* t, void** from) {
    const bool begins = t && !t->fiber;
    running_block.begun += begins;
    left = std::exchange(current_fiber, begins ? take_fiber() : t ? t->fiber : &host_fiber);
    if constexpr (asan_build)
        __sanitizer_start_switch_fiber(&left->fake_stack, current_fiber->bottom, current_fiber->size);
    void* const to = t && !begins ? std::exchange(t->stack, nullptr) : current_fiber->context;
    if (t) become(t);
    else self = nullptr;
    switch_stacks(from, to);
    arrive();
}

bool on_own_stack(const void* p) { return size_t(p) - size_t(current_fiber->bottom) < current_fiber->size; }

bool on_a_stack(const void* p) {
    return std::ranges::any_of(fibers, [&](const Fiber& f) { return size_t(p) - size_t(f.bottom) < f.size; });
}

bool below_own_stack(const void* p) { return size_t(p) - size_t(current_fiber->bottom) + page < page + 256; }

}  // namespace cudacpu
