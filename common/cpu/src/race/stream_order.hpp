// stream_order.hpp - concurrent kernels and copies of several streams, and the host beside them.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/reporting.hpp"
#include "memory/address_space.hpp"
#include "race/shadow_memory.hpp"

namespace cudacpu::race {

struct CopySource {  // a buffer that the host must not change before it is copied
    const char* start;
    size_t pitch, width, height;
    uint64_t sum;  // of its bytes
};
struct Work {
    unsigned long number;
    const void* stream;
    std::map<const void*, unsigned long> after;  // by stream: the last work that it waits for
    unsigned long begun_before;  // how many works had run when it was queued, so the host had waited for them
    unsigned long turn = ~0ul;   // its position in the order of execution
    Time start = 0;
    std::string what, line;  // the line of the kernel; for copies, of the calls
    Callers callers;
    unsigned long primary = 0;  // the kernel that this one need not wait for
    unsigned long event = 0;    // of cudaStreamWaitEvent(): the work that records it
    std::vector<CopySource> sources{};
    const char* target = nullptr;  // of a copy
    size_t target_bytes = 0;
    bool has_begun() const { return turn != ~0ul; }
};
void work_queued(unsigned long number, const void* stream, const std::set<unsigned long>& after, const char* what);
void work_is_secondary(unsigned long primary);
bool is_secondary();  // whether the running kernel's primary is the work that ran just before it
void work_waits(unsigned long number, unsigned long event);
void work_begins(unsigned long number);
void work_ended();
void work_writes(Region& r, size_t offset, size_t bytes);  // a copy
void work_will_write(const void* target, size_t bytes);
const Work* next_copy_to(const char* address);  // the queued copy that will write there, or nullptr
void work_touches(const void* address, size_t bytes, bool write);
extern bool several_streams;              // the queue holds works of several streams
bool before_this_launch(const Epoch& r);  // of an earlier work: does this one wait for it?
/// after_primary: the running kernel does not wait for its primary. undecided: NVIDIA's documents do not say
/// whether the two kernels are ordered.
enum class WorkRace { between_streams, after_primary, undecided };
struct EventUse {
    const Work *record = nullptr, *wait = nullptr;
};
/// The last wait before a work in its stream, or else the first after it, for an event of the other work's stream.
EventUse event_between(const Work& recorded, const Work& waiting);
void race_of_works(WorkRace kind, const Epoch& before, const Epoch& mine, const char* address);
void host_gets(const void* from, size_t pitch, size_t width, size_t height);
void host_must_keep(const void* start, size_t pitch, size_t width, size_t height);
void host_waits(bool begins);
/// An atomic or volatile access of a kernel: the host may have written earlier than the data that the kernel reads
/// next.
void host_may_tell(const Region* r, const char* address, unsigned kind);
Time launch_beside();  // A launch begins: returns when the first work began that it does not wait for.

}  // namespace cudacpu::race
