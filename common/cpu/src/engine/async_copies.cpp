// async_copies.cpp - asynchronous copies (__pipeline_memcpy_async): each is done when its thread waits for it. A
// GPU may do it at any time between, so until then nobody may read or write the destination.
#include "engine/async_copies.hpp"

#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "cuda_pipeline_primitives.h"
#include "engine/build.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"

namespace cudacpu {

namespace {

struct Started {
    AsyncCopy copy;
    const void* pc;  // where the program has begun it
};
struct Copies {                                   // of one thread
    std::deque<std::vector<Started>> batches{1};  // the last one is not committed yet
    Where waited{};                               // its last wait
    size_t left = 0, committed = 0;               // that let so many batches be under way, of so many
};
std::map<std::pair<uint64_t, unsigned>, Copies> under_way CUDACPU_LASTING;  // by block and thread

Copies& own_copies() { return under_way[{block_number, rank}]; }

}  // namespace

void start_copy(const AsyncCopy& copy) {
    own_copies().batches.back().push_back({copy, __builtin_return_address(0)});
    race_observer.copy_starts(copy.to, copy.bytes);
}

void commit_copies() { own_copies().batches.emplace_back(); }

void wait_for_copies(size_t batches_left, Where where) {
    Copies& mine = own_copies();
    auto& all = mine.batches;
    for (; all.size() - 1 > batches_left; all.pop_front())
        for (const Started& s : all.front()) {
            race_observer.copy_ends(s.copy.to, s.copy.bytes, s.pc);
            memcpy(s.copy.to, s.copy.data, s.copy.bytes);
        }
    mine.waited = where, mine.left = batches_left, mine.committed = all.size() - 1;
}

std::optional<LateCopy> copy_under_way(const void* address) {
    for (const auto& [thread, copies] : under_way)
        for (size_t i = 0; i < copies.batches.size(); ++i)
            for (const Started& s : copies.batches[i])
                if (thread.first == block_number &&
                    size_t(static_cast<const char*>(address) - static_cast<char*>(s.copy.to)) < s.copy.bytes)
                    return i < copies.committed ? LateCopy{copies.waited, copies.left, copies.committed - 1 - i}
                                                : LateCopy();
    return {};
}

void block_forgets_copies() {
    std::erase_if(under_way, [](const auto& entry) { return entry.first.first == block_number; });
}

}  // namespace cudacpu
