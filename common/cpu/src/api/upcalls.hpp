// upcalls.hpp - what api/ calls of the layers above it. It declares the functions, and these layers define them.
#pragma once
#include <string>

#include "engine/build.hpp"

namespace cudacpu {

// ---- what the warps did: the output of the counters' and the hazard build

namespace warp {
std::string table();
std::string csv();
std::string trace_page();
bool nothing_is_drawn();
std::string kernels_that_ran();  // "scan (1), sum (3)": how often each was launched

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
