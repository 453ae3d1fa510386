// upcalls.hpp - what api/ calls of the layers above it. It declares the functions, and these layers define them.
#pragma once
#include <set>
#include <string>

#include "engine/build.hpp"
#include "memory/address_space.hpp"

namespace cudacpu {

// ---- the race detector

namespace race {
CUDACPU_RACE_UPCALL(work_queued(unsigned long /*number*/, const void* /*stream*/,
                                const std::set<unsigned long>& /*after*/, const char* /*what*/));
CUDACPU_RACE_UPCALL(work_waits(unsigned long /*number*/, unsigned long /*event*/));
CUDACPU_RACE_UPCALL(work_begins(unsigned long /*number*/));
CUDACPU_RACE_UPCALL(work_ended());
CUDACPU_RACE_UPCALL(work_touches(const void* /*address*/, size_t /*bytes*/, bool /*write*/));  // a copy
CUDACPU_RACE_UPCALL(bytes_written(Region&, size_t /*offset*/, size_t /*bytes*/));              // by a copy
/// A copy to the host begins: checks that all of it has been written.
CUDACPU_RACE_UPCALL(host_gets(const void* /*from*/, size_t /*pitch*/, size_t /*width*/, size_t /*height*/));
CUDACPU_RACE_UPCALL(host_must_keep(const void* /*start*/, size_t /*pitch*/, size_t /*width*/, size_t /*height*/));
CUDACPU_RACE_UPCALL(host_waits(bool /*begins*/));  // works may run; they have run
}  // namespace race

// ---- what the warps did: the output of the counters' and the hazard build

namespace warp {
std::string table();
std::string csv();
std::string trace_page();
bool nothing_is_drawn();
std::string kernels_that_ran();                                  // "scan (1), sum (3)": how often each was launched
CUDACPU_WARP_UPCALL(void stopped(const char* /*why*/), void());  // the running kernel does not finish

// What race/ tells the trace. race/ and warp/ do not include each other.
extern bool drawing_launch;  // the running launch is drawn
struct Part {                // one side of a race
    uint64_t block;
    unsigned thread;
    uint64_t site;
};
/// Two accesses that may be a race; a came first.
void draw_conflict(const Part& a, const Part& b, const char* address, size_t bytes);
/// They are a race of this launch.
void draw_race(const Part& a, const Part& b, const std::string& words, const std::string& where);
/// The running thread is about to access memory: it waits for the lanes that come here too.
void stop_at_access(const void* p, size_t bytes, bool is_write, bool is_volatile, uint64_t site, const void* frame);
}  // namespace warp

// ---- report/crash.cpp

void prepare_thread();  // for a thread of the program that may run kernels
/// Reports an object with virtual functions that the host copies to the device.
void note_virtual_functions(const void* object, size_t bytes);

}  // namespace cudacpu
