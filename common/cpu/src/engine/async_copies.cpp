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
using Batches = std::deque<std::vector<Started>>;                            // the last one is not committed yet
std::map<std::pair<uint64_t, unsigned>, Batches> under_way CUDACPU_LASTING;  // by block and thread

Batches& own_batches() {
    Batches& all = under_way[{block_number, rank}];
    if (all.empty()) all.emplace_back();
    return all;
}

}  // namespace

void start_copy(const AsyncCopy& copy) {
    own_batches().back().push_back({copy, __builtin_return_address(0)});
    race_observer.copy_starts(copy.to, copy.bytes);
}

void commit_copies() { own_batches().emplace_back(); }

void wait_for_copies(size_t batches_left) {
    Batches& all = own_batches();
    for (; all.size() - 1 > batches_left; all.pop_front())
        for (const Started& s : all.front()) {
            race_observer.copy_ends(s.copy.to, s.copy.bytes, s.pc);
            memcpy(s.copy.to, s.copy.data, s.copy.bytes);
        }
}

bool copy_under_way(const void* address) {
    for (const auto& [thread, batches] : under_way)
        for (const auto& batch : batches)
            for (const Started& s : batch)
                if (thread.first == block_number &&
                    size_t(static_cast<const char*>(address) - static_cast<char*>(s.copy.to)) < s.copy.bytes)
                    return true;
    return false;
}

void block_forgets_copies() {
    std::erase_if(under_way, [](const auto& entry) { return entry.first.first == block_number; });
}

}  // namespace cudacpu
