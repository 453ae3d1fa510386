// hand_over.hpp - how threads tell each other that data are there: words that one thread sets and another waits
// for.
#pragma once
#include "race/race.hpp"
#include "race/shadow_memory.hpp"

namespace cudacpu::race {

/// A plain write that races with an access of the running thread: either may be meant to set a flag, or to wait for
/// it.
void note_plain_steps(const char* address, const Epoch& write, const Epoch& mine);
void note_step(const char* address, unsigned kind,
               const Epoch& mine);  // a volatile or atomic access of this thread
constexpr unsigned all_warps = 32;
void note_meeting(unsigned warp);  // the running block, or a warp of it, has passed a barrier
void forget_steps();
/// The words by which one thread may have told the other one of its access there, the latest first. `mine` is that
/// of the running thread.
std::vector<HandOver> hand_overs(const Epoch& earlier, const Epoch& mine, const char* address);
/// Whether another word hands the word of the race over, but the writer forgot the fence.
bool handed_over_unfenced(const Race& race);
/// Whether a version guards the word of a race (a seqlock), and whether a reader may get a mix of old and new
/// words.
enum class Version { none, intact, torn };
Version version_of(Race& race);  // adds the fences that are missing

}  // namespace cudacpu::race
