// launch.cpp - a kernel launch that runs: block after block.
#include "engine/launch.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

#include "engine/async_copies.hpp"
#include "engine/build.hpp"
#include "engine/fiber.hpp"
#include "engine/observer.hpp"
#include "engine/rendezvous.hpp"
#include "engine/schedule.hpp"
#include "engine/scheduler.hpp"
#include "engine/upcalls.hpp"

// The program sees these as constants.
CUDACPU_BUILTIN uint3 cudacpu_block asm("cudacpu_blockIdx");
CUDACPU_BUILTIN dim3 cudacpu_block_size asm("cudacpu_blockDim"), cudacpu_grid_size asm("cudacpu_gridDim");

namespace cudacpu {

const Launch* launch;
uint64_t block_number;
cudaError_t outcome;
namespace {

// A paused block: all its threads wait for another block. It holds the whole state of the block.
struct Paused {
    BlockOfThreads threads;
    std::vector<Rendezvous*> rendezvous[33];
    unsigned long syncs[33];
    Where last_met[33];
    uint64_t number;
    uint3 index;
    std::shared_ptr<void> shared;
};
void pause(Paused& p) {
    p.threads = running_block;
    std::swap(p.rendezvous, open_rendezvous);
    std::copy(std::begin(syncs), std::end(syncs), p.syncs);
    std::copy(std::begin(last_met), std::end(last_met), p.last_met);
    p.number = block_number;
    p.index = cudacpu_block;
    race_observer.block_pauses();
    lockstep_observer.block_pauses();
    p.shared = keep_shared_memory();
    last_joined = nullptr;
}
void resume(Paused& p) {
    running_block = p.threads;
    std::swap(p.rendezvous, open_rendezvous);
    std::copy(std::begin(p.syncs), std::end(p.syncs), syncs);
    std::copy(std::begin(p.last_met), std::end(p.last_met), last_met);
    block_number = p.number;
    cudacpu_block = p.index;
    restore_shared_memory(p.shared);
    race_observer.block_goes_on();
    lockstep_observer.block_goes_on();
}

}  // namespace

cudaError_t run_launch(const Launch& l) {
    launch = &l;
    cudacpu_grid_size = l.grid;
    cudacpu_block_size = l.block;
    set_block_size(l.block);
    race_observer.launch_begins();
    lockstep_observer.launch_begins();
    const uint64_t blocks = uint64_t(l.grid.x) * l.grid.y * l.grid.z;
    uint64_t first = 0, step = order == Order::forward;  // block i is (first + i * step) % blocks
    if (order == Order::reverse) first = step = blocks - 1;
    while (order == Order::seeded && std::gcd(step, blocks) != 1) first = random_number(), step = random_number();
    outcome = cudaSuccess;
    const size_t most_resident = resident_most(running_block.size);
    blocks_at_barrier = 0;
    std::deque<Paused> paused;
    bool starts = true;  // otherwise a paused block resumes
    for (uint64_t i = 0; (i < blocks || !paused.empty()) && outcome == cudaSuccess;) {
        starts = i < blocks && (paused.empty() || (starts && paused.size() < most_resident));
        blocks_wait = i + starts < blocks || paused.size() > !starts;
        blocks_paused = paused.size();
        blocks_under_way = i + starts < blocks && paused.size() + 1 < most_resident ? ~0ul : paused.size() + starts;
        if (starts) {
            const uint64_t b = block_number = (first + i++ * step) % blocks, row = b / l.grid.x;
            cudacpu_block = {unsigned(b % l.grid.x), unsigned(row % l.grid.y), unsigned(row / l.grid.y)};
            ++progress;
            std::fill(std::begin(last_met), std::end(last_met), Where{"", 0});
            begin_shared_memory(l.dynamic_bytes);
            race_observer.block_begins();
            lockstep_observer.block_begins();
        } else {
            resume(paused.front());
            paused.pop_front();
        }
        const bool ended = run_block(starts);
        if (ended) block_forgets_copies();
        if (ended) race_observer.block_ends(), lockstep_observer.block_ends();
        if (!ended) paused.emplace_back(), pause(paused.back());
        starts = !ended || !starts;  // the end of a block may be what another one waits for
    }
    if (outcome != cudaSuccess) {  // the block was aborted: its fibers are abandoned where they are
        abandon_fibers();
        for (auto& list : open_rendezvous) list.clear();
        last_joined = nullptr;
    }
    race_observer.launch_ends();
    launch = nullptr;
    return outcome;
}

}  // namespace cudacpu
