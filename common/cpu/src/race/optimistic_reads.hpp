// optimistic_reads.hpp - weak reads of a word that other threads change by atomics.
#pragma once
#include "race/happens_before.hpp"

namespace cudacpu::race {

/// Whether the verdict on a race between a weak read (r is its epoch) and an atomic has to wait: the reader's own
/// CAS may still compare the value. `word`: aligned to four bytes.
bool is_optimistic(const Epoch& r, const char* word, const Race& race);
/// The running thread reads the word after others' CAS operations: it may be shown the value before them.
void show_value_before_cas(char* address, size_t bytes, uint64_t site);
/// The running thread is about to do a CAS, which expects this value. Returns whether the thread has made an
/// optimistic read of this value.
bool cas_begins(const char* address, size_t bytes, const void* expected, const Epoch& mine);
/// The CAS compares what its thread has read at this site.
void cas_compares(const char* word, uint64_t site);
/// The running thread, which has made optimistic reads, writes, or reads at this site.
void optimistic_thread_writes();
void optimistic_thread_reads(const char* address, size_t bytes, uint64_t site);
void report_optimistic_reads();  // at the end of a block
void optimistic_reads_launch_begins();

}  // namespace cudacpu::race
