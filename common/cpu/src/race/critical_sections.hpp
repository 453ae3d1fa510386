// critical_sections.hpp - critical sections: accesses under a lock.
#pragma once
#include "race/happens_before.hpp"

namespace cudacpu::race {

void lock_changed(ThreadState& m, const char* address, bool taken, bool given_back);
void in_section(const char* address, const Epoch& mine, bool shared);  // an access under a lock
/// An access under a lock to other data: acquires what earlier sections of the lock released for it.
void enter_section(const char* address, size_t bytes, unsigned kind);
/// Releases only to sections with conflicting accesses.
bool section_releases(ThreadState& m, const char* lock, const Release& released);
/// A thread that does not take the lock acquires everything.
void acquire_sections(ThreadState& m, const char* lock);
bool sections_have_released();        // whether any section has released anything
void section_meets(unsigned thread);  // it synchronizes with others, which may do part of its work
void sections_fenced(unsigned thread, Scope scope);
void sections_at_barrier();
void forget_sections();
void sections_at_grid_barrier();

}  // namespace cudacpu::race
