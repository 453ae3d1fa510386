// watchdog.cpp - livelock detection: tells a kernel that computes for long from threads that spin.
//
// While there is no progress (no block or thread ends, no rendezvous completes), the watchdog samples the running
// code a hundred times a second. The state of an atomic or a volatile read is its place, its address and the value
// there; otherwise it is the processor's registers. A computing thread is never long in the same states; a spinning
// thread is.
#include "engine/watchdog.hpp"

#include <sys/time.h>

#include <cstring>

#include "engine/launch.hpp"
#include "engine/text.hpp"

namespace cudacpu {

volatile sig_atomic_t sample_requested;
int patience = 10;
volatile sig_atomic_t seconds_in_block;
const void* last_access;
Where last_atomic;

namespace {

constexpr int samples_per_second = 100;
uint64_t states[4096];  // the states that were seen
unsigned all_states, new_states, samples;
volatile bool sampled;  // since the last tick

void note_state(uint64_t state) {  // allocates nothing, because signal handlers call it
    ++samples;
    state |= 1;
    size_t i = state >> 52;
    while (states[i] && states[i] != state) i = (i + 1) % std::size(states);
    if (states[i]) return;
    states[i] = state;
    ++new_states;
    if (++all_states > std::size(states) / 2) memset(states, 0, sizeof states), all_states = 0;
}

uint64_t state_of(const ucontext_t& context) {
    uint64_t sum = 1;
#if defined(__x86_64__)
    for (auto r : context.uc_mcontext.gregs) sum = mix(sum, uint64_t(r));
    if (const auto* f = context.uc_mcontext.fpregs)
        for (const auto& x : f->_xmm)
            for (unsigned e : x.element) sum = mix(sum, e);
#elif defined(__aarch64__)
    for (auto r : context.uc_mcontext.regs) sum = mix(sum, r);
    sum = mix(sum, context.uc_mcontext.pc);
#endif
    return sum;
}

}  // namespace

void tick_each(int milliseconds) {
    const timeval t{milliseconds / 1000, milliseconds % 1000 * 1000L};
    const itimerval each{t, t};
    setitimer(ITIMER_VIRTUAL, &each, nullptr);
}

void take_sample(const void* pc, const void* address, unsigned bytes) {
    sample_requested = 0;
    sampled = true;
    note_state(mix(mix(mix(1, uintptr_t(pc)), uintptr_t(address)), value_at(address, bytes)));
}

bool is_spinning(const ucontext_t& context) {
    static unsigned long last;
    static int idle;  // seconds without progress
    const unsigned long now = 1024 * progress + running_block.ended();
    static unsigned long block;
    if (!launch || block != block_serial) {
        block = block_serial;
        seconds_in_block = 0;
    } else if (!idle) {
        seconds_in_block = seconds_in_block + 1;
    }
    if (!launch || now != last) {
        last = now;
        if (idle) tick_each(1000);
        idle = 0;
        sample_requested = 0;
        return false;
    }
    if (!idle++) {  // sampling begins now
        memset(states, 0, sizeof states);
        all_states = new_states = samples = 0;
        sampled = false;
        tick_each(1000 / samples_per_second);
        sample_requested = 0;
        return false;
    }
    if (!sampled && sample_requested) note_state(state_of(context));
    sampled = false;
    sample_requested = 1;
    if (!self || idle < patience * samples_per_second || samples < samples_per_second) return false;
    const bool same = 2 * new_states < samples;
    new_states = samples = 0;
    return same;
}

}  // namespace cudacpu
