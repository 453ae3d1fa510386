// in_flight_buffers.hpp - the host and buffers that queued work still uses.
#pragma once
#include "memory/address_space.hpp"

namespace cudacpu::race {

void host_gets(const void* from, size_t pitch, size_t width, size_t height);
void host_must_keep(const void* start, size_t pitch, size_t width, size_t height);
void host_waits(bool begins);
void callback_runs(bool begins);  // beside works of other streams
/// A kernel begins: from now on, what the host has written since the kernel was queued is of interest.
void host_writes_begin(unsigned long kernel);
void compare_host_writes();  // with what the kernel has read
/// An atomic or volatile access of a kernel: the host may have written earlier than the data that the kernel reads
/// next.
void host_may_tell(const Region* r, const char* address, unsigned kind);

}  // namespace cudacpu::race
