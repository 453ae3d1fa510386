// critical_sections.hpp - critical sections: accesses under a lock.
#pragma once
#include "race/happens_before.hpp"

namespace cudacpu::race {

void lock_taken(ThreadState& m, const char* lock, uint64_t site);
/// Returns whether later sections of the lock acquire what is released when they access the same data, so that the
/// lock's word need not release it to all.
bool lock_given_back(ThreadState& m, const char* lock, const Epoch& mine, const Release& released);
void access_in_section(const char* address, size_t bytes, const Epoch& mine, bool shared);  // under a lock
/// What all sections of the lock released, for a thread that does not take it. fenced: as for acquire().
void acquire_sections(ThreadState& m, const char* lock, unsigned fenced = 0);
bool sections_have_released();        // whether any section has released anything
void section_meets(unsigned thread);  // others, which may do part of its work
void sections_fenced(unsigned thread, Scope scope);
void sections_at_barrier();
void sections_at_grid_barrier();
void forget_sections();

}  // namespace cudacpu::race
