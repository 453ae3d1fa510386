// volatile_data.hpp - words that threads share by volatile accesses: flags, versions and data.
#pragma once
#include "race/race.hpp"
#include "race/shadow_memory.hpp"

namespace cudacpu::race {

void flag_read(char* address, size_t bytes, uint64_t site, const Epoch& write, bool unordered);
bool flag_written(char* address, size_t bytes, bool shared);  // has it changed since its thread read it?
void flag_settled(const char* address, size_t bytes);
void flag_value_stored();  // the running thread writes right after it has read a flag
/// Two unordered volatile accesses. published: the writer executed a fence between its earlier writes and this one.
void flags_race(const Race& race, bool published);
/// A thread writes the value that another one has written since it read the word, with no barrier since: a race if
/// the word takes other values.
void equal_update_lost(const Race& race);
void report_flag_races();
void forget_volatile_data();
bool published(const char* address);
void show_old_value(char* address, size_t bytes);  // the current value will be restored after the access
void restore_shown_value();                        // restores the value after a thread was shown an old one

}  // namespace cudacpu::race
