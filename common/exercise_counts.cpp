// exercise_counts.cpp - counts what an exercise does on the CPU device. Barriers are counted where they are called.
// For the rest it comes between the hazard build's accesses and their hooks (the linker's --wrap), notes which
// address each lane touched, and jumps on to the hook, which still sees the place in the program.
#include <map>
#include <set>
#include <tuple>

#include "internal.hpp"
#include "exercise.cuh"

namespace lab {
namespace {

using Visit = std::tuple<const void*, uint64_t, unsigned, unsigned>;  // place, block, warp, which time
struct Request {                                                      // what the lanes of a warp touched together
    std::set<uint64_t> sectors;
    std::map<uint64_t, std::set<uint64_t>> words_of_bank;
};
std::map<Visit, Request> requests;
using Thread = std::pair<uint64_t, unsigned>;               // block, rank
std::map<std::pair<Thread, const void*>, unsigned> visits;  // of each thread to each place
std::map<Thread, long long> of_thread;
long long barriers, atomics;

}  // namespace

void begin_counts() {
    requests.clear();
    visits.clear();
    of_thread.clear();
    barriers = atomics = 0;
}
void count_barrier() { barriers += cudacpu::block_number == 0 && cudacpu::rank == 0; }

static bool is_shared(const cudacpu::Region& region) {
    return region.kind == cudacpu::Kind::shared || region.kind == cudacpu::Kind::dynamic;
}

// noinline and at -O2: the call of the hook must be the last, and become a jump.
static __attribute__((noinline)) void note(const void* address, unsigned bytes, const void* place) {
    if (!cudacpu::self || cudacpu::on_own_stack(address)) return;
    const cudacpu::Region* const region = cudacpu::find(address);
    if (!region) return;
    // An allocation begins with a sector and a bank, as on a GPU; here it ends with a page.
    const auto at = static_cast<uint64_t>(static_cast<const char*>(address) - region->start);
    const uint64_t block = cudacpu::block_number;
    const unsigned visit = visits[{{block, cudacpu::rank}, place}]++;
    ++of_thread[{block, cudacpu::rank}];
    Request& request = requests[{place, block, cudacpu::rank / 32, visit}];
    if (is_shared(*region))
        request.words_of_bank[at / 4 % 32].insert(at / 4);
    else
        for (uint64_t sector = at / 32; sector <= (at + bytes - 1) / 32; ++sector) request.sectors.insert(sector);
}

}  // namespace lab

lab::Count barriers() { return {"barriers in a block", "一个线程块的同步", lab::barriers}; }
lab::Count atomics() { return {"atomics in global memory", "全局内存的原子操作", lab::atomics}; }
lab::Count sectors() {
    long long sum = 0;
    for (const auto& [visit, request] : lab::requests) sum += static_cast<long long>(request.sectors.size());
    return {"sectors loaded and stored", "读写的扇区", sum};
}
lab::Count conflicts() {
    long long sum = 0;
    for (const auto& [visit, request] : lab::requests) {
        size_t turns = 1;
        for (const auto& [bank, words] : request.words_of_bank) turns = std::max(turns, words.size());
        sum += static_cast<long long>(turns) - 1;
    }
    return {"bank conflicts", "bank 冲突", sum};
}

lab::Count accesses() {
    long long most = 0;
    for (const auto& [thread, count] : lab::of_thread) most = std::max(most, count);
    return {"accesses of the busiest thread", "最忙的线程的读写", most};
}

// cudacpu::about_to_do_atomic()
#define LAB_ATOMIC(prefix) prefix##_ZN7cudacpu18about_to_do_atomicEPvjjNS_5WhereE
extern "C" void LAB_ATOMIC(__real_)(void*, unsigned, unsigned, cudacpu::Where);
extern "C" void LAB_ATOMIC(__wrap_)(void* address, unsigned bytes, unsigned kind, cudacpu::Where where) {
    const cudacpu::Region* const region = cudacpu::find(address);
    lab::atomics += region && !lab::is_shared(*region);
    if (kind & cudacpu::at_compares) cudacpu::give_way();  // others come between a read and its atomicCAS
    LAB_ATOMIC(__real_)(address, bytes, kind, where);
}

// clang-format off
#define LAB_WRAP(name, bytes) \
    extern "C" void __real___tsan_##name(void*); \
    extern "C" void __wrap___tsan_##name(void* p) { \
        lab::note(p, bytes, __builtin_return_address(0)); \
        return __real___tsan_##name(p); \
    }
// clang-format on
LAB_WRAP(read1, 1)
LAB_WRAP(read2, 2)
LAB_WRAP(read4, 4)
LAB_WRAP(read8, 8)
LAB_WRAP(read16, 16)
LAB_WRAP(write1, 1)
LAB_WRAP(write2, 2)
LAB_WRAP(write4, 4)
LAB_WRAP(write8, 8)
LAB_WRAP(write16, 16)
