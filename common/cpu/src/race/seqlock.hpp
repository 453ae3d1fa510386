// seqlock.hpp - seqlocks: words that a version number guards.
#pragma once
#include "race/race.hpp"

namespace cudacpu::race {

void note_step(const char* address, unsigned kind);  // a volatile or atomic access of the running thread
/// Whether a version number guards the word of this race, and whether a reader may get a mix of old and new words.
enum class SeqlockVersion { none, intact, torn };
SeqlockVersion seqlock_version(const Race& race);
void forget_seqlocks();

}  // namespace cudacpu::race
