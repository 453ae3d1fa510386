// barrier_use.cpp - barriers by which alone no conflict of the run was ordered. It is linked into programs that are
// built with --hazards=all, and each of their accesses takes the slow path.
//
// A barrier orders a conflict alone if the block passed no other one between the two accesses. So the uses of a
// word since the last barrier, and in the interval before it, tell which barriers are needed. The order that a
// fence publishes may lead through a barrier to another block, so in a launch with a fence all barriers are needed.
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/observer.hpp"
#include "race/access_check.hpp"

extern "C" const char cudacpu_barrier_use = 0;  // the linker looks for it

namespace cudacpu::race {

namespace {

constexpr int nobody = -1, several = -2;
struct Use {  // of a word, between two barriers
    unsigned interval = 0;
    int reader = nobody, writer = nobody;
};
struct Block {
    unsigned interval = 1;
    bool* needed = nullptr;  // whether the barrier at which the interval began is needed
    std::unordered_map<uintptr_t, std::pair<Use, Use>> words;  // the last use, and the one before it
};
std::map<uint64_t, Block> blocks;       // those that run or are paused
std::map<std::string, bool> is_needed;  // by the barrier's place
std::set<bool*> passed;                 // in this launch
bool fenced;                            // in this launch
const LaunchObserver& detector = *new LaunchObserver(race_observer);
const LaunchObserver& lockstep = *new LaunchObserver(lockstep_observer);
const RegionObserver& regions = *new RegionObserver(region_observer);

void note_use(const char* address, size_t bytes, unsigned kind) {
    const int me = int(rank);
    Block& b = blocks[block_number];
    for (uintptr_t word = uintptr_t(address) / 4; word <= (uintptr_t(address) + bytes - 1) / 4; ++word) {
        auto& [last, before] = b.words[word];
        if (last.interval != b.interval) before = std::exchange(last, {b.interval});
        int& users = kind & writes ? last.writer : last.reader;
        users = users == nobody || users == me ? me : several;
        const auto has_other = [&](int threads) { return threads != nobody && threads != me; };
        if (b.needed && before.interval + 1 == b.interval &&
            (has_other(before.writer) || (kind & writes && has_other(before.reader))))
            *b.needed = true;
    }
}

void rendezvous_passed(const Rendezvous& e, unsigned warp) {
    lockstep.rendezvous_passed(e, warp);
    if (e.kind != Rendezvous::at_barrier) return;
    Block& b = blocks[block_number];
    ++b.interval;
    b.needed = nullptr;
    if (strcmp(e.what, "__syncthreads()") != 0) return;  // the others hand on a value, or join all blocks
    b.needed = &is_needed[source_line(e.where)];
    passed.insert(b.needed);
}

struct BarrierUse {
    BarrierUse() {
        observe_access = note_use;
        state.observed = true;
        lockstep_observer.rendezvous_passed = rendezvous_passed;
        race_observer.at_fence = [](bool block, unsigned sides) { fenced = true, detector.at_fence(block, sides); };
        race_observer.grid_dependency_met = [] { fenced = true, detector.grid_dependency_met(); };
        race_observer.block_ends = [] { detector.block_ends(), blocks.erase(block_number); };
        race_observer.launch_ends = [] {
            for (bool* needed : passed) *needed |= fenced;
            fenced = false, passed.clear(), blocks.clear();
            detector.launch_ends();
        };
        region_observer.heap_taken = [](void* start) {
            if (bool* const needed = blocks[block_number].needed) *needed = true;
            regions.heap_taken(start);
        };
    }
    ~BarrierUse() {
        for (const auto& [place, needed] : is_needed)
            if (!needed)
                print_report(compose_report(
                    say({"note: in this run no conflict was ordered by this barrier alone",
                         "note: 在这次运行中，没有冲突只靠这个同步点来定序"}),
                    say({"other data may need it. Of two barriers without an access between them, one suffices",
                         "别的数据可能需要它。两个同步点之间没有访问时，一个就够了"}),
                    place, "redundant-barrier"));
    }
} barrier_use;

}  // namespace

}  // namespace cudacpu::race
