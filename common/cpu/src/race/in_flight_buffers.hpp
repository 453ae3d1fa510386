// in_flight_buffers.hpp - the host and buffers that queued work still uses.
#pragma once
#include <string>

#include "engine/reporting.hpp"
#include "memory/address_space.hpp"

namespace cudacpu::race {

struct CopySource {  // a buffer that the host must not change before it is copied
    unsigned long number;
    const char* start;
    size_t pitch, width, height;
    uint64_t sum, before;  // before: when the running callback began
    std::string what;
    Callers callers;
};
void host_gets(const void* from, size_t pitch, size_t width, size_t height);
void host_must_keep(const void* start, size_t pitch, size_t width, size_t height);
void host_waits(bool begins);
void buffers_work_begins(unsigned long number, bool callback_beside_streams);
void buffers_work_ended(bool callback);
void buffers_queue_is_empty();
void buffers_launch_begins(unsigned long work);
/// An atomic or volatile access of a kernel: the host may have written earlier than the data that the kernel reads
/// next.
void host_may_tell(const Region* r, const char* address, unsigned kind);

}  // namespace cudacpu::race
