// early_access.hpp - accesses of the host to memory that queued work still uses.
#pragma once
#include <atomic>
#include <utility>
#include <vector>

#include "cuda_runtime.h"

namespace cudacpu {

void await_kernel(const void* argument);  // of the last work: the host must wait before it touches pinned memory
cudaError_t await_copy(const void* to, size_t bytes);  // the same for the target of a copy
bool is_awaited(const char* address);                  // whether it is in such memory
void protect_awaited_pages(bool closed);
/// The host touches memory that the device may still use. That is permitted, but too early if one of the queued
/// works changes the memory. Without a pc it is an atomic, which is never too early. false: there is no such
/// memory.
bool touched_early(const void* address, bool writes, const void* pc, unsigned bytes);
extern std::atomic<unsigned long> early_touches;
void close_touched_page();  // the page just touched, if parts of it must stay closed
const void* where_touched(const void* start, size_t bytes);  // by a write that came too early; nullptr if unknown
/// The addresses where the host has written, since this work was queued, to memory that the device may also use;
/// with the code.
std::vector<std::pair<const char*, const void*>> written_since(unsigned long work);
void note_touches();  // before works run
/// Checks the touches before this work, for which the host waits or asks: it may have read data that are not ready.
void compare_touches(unsigned long work, bool waits, bool asks);

}  // namespace cudacpu
