// access_check.hpp - the check of one access.
#pragma once
#include <bit>

#include "race/happens_before.hpp"
#include "race/race.hpp"

namespace cudacpu::race {

extern struct alignas(8) State {  // usually none is set, which one comparison tells
    bool busy;             // The linker may have chosen the program's instrumented copy of a std::map for this one.
    bool pending;          // the last access must be checked after it is done
    bool something_shown;  // a thread was shown an old value, which must be restored
    bool index_too_large;  // the compiler found that the index of the next access is too large
    bool observed;         // observe_access is called for each access
    bool padding[3];
    uint64_t any() const { return std::bit_cast<uint64_t>(*this); }
} state;
/// Called for each access to memory that threads can share; nullptr, except in programs built with --hazards=all.
extern void (*observe_access)(const char* address, size_t bytes, unsigned kind);
Region* program_region(const void* address);  // the program's variables; nullptr: it is not one of them
void complete_pending();                      // checks the last access, which is now done
/// The same before a plain access. Returns false if the slow path is needed.
bool none_pending(bool write);
/// Tells the value that a CAS expects.
void access(const volatile void* where, size_t bytes, unsigned kind, uint64_t site, const void* expected = nullptr);
void note(const Race& race);  // to be reported when the launch ends

}  // namespace cudacpu::race
