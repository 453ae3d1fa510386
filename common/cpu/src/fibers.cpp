// fibers.cpp - the stacks that CUDA threads run on, and the switch from one to another.
#include "internal.hpp"

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include <boost/context/detail/fcontext.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <deque>

using namespace boost::context::detail;

namespace cudacpu {

Fiber host_fiber, *current_fiber = &host_fiber;

namespace {

constexpr size_t stack_bytes = 256 << 10;
std::deque<Fiber> fibers;  // all that were ever made: blocks take them one after the other
std::vector<Fiber*> spare;

void arrive(transfer_t t) {  // the first thing that a fiber does when it goes on
    auto* from = static_cast<Fiber*>(t.data);
    from->context = t.fctx;
    if constexpr (asan_build)
        __sanitizer_finish_switch_fiber(current_fiber->fake_stack, &from->bottom, &from->size);
}

void fiber_main(transfer_t from) {
    arrive(from);
    run_threads();
}

void prepare(Fiber& f) {  // to begin at the beginning
    ASAN_UNPOISON_MEMORY_REGION(f.bottom, f.size);
    f.context = make_fcontext((char*)f.bottom + f.size, f.size, fiber_main);
    spare.push_back(&f);
}

}  // namespace

Fiber* take_fiber() {
    if (spare.empty()) {
        const auto stack = boost::context::protected_fixedsize_stack(stack_bytes).allocate();
        // Tops at different offsets do not contend for the same lines of the cache.
        const size_t size = stack_bytes - fibers.size() % 61 * 64;
        prepare(fibers.emplace_back(Fiber{nullptr, static_cast<char*>(stack.sp) - stack_bytes, size, nullptr}));
    }
    Fiber* f = spare.back();
    spare.pop_back();
    return f;
}

void free_fiber(Fiber* fiber) { spare.push_back(fiber); }

void abandon_fibers() {
    spare.clear();
    for (Fiber& f : fibers) prepare(f);
}

void switch_to(Fiber* to) {
    Fiber* from = current_fiber;
    if (to == from) return;
    current_fiber = to;
    if constexpr (asan_build) __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->size);
    arrive(jump_fcontext(to->context, from));
}

bool on_own_stack(const void* p) { return size_t(p) - size_t(current_fiber->bottom) < current_fiber->size; }

bool below_own_stack(const void* p) { return size_t(p) - size_t(current_fiber->bottom) + page < page + 256; }

}  // namespace cudacpu
