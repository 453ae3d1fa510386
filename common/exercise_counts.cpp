// exercise_counts.cpp - counts what an exercise does on the CPU device. The linker's --wrap makes each memory
// access of the hazard build call a function of this file before the access's hook. The function notes which
// address the lane accesses, and jumps to the hook, which still sees the place in the program. It also detects
// endless loops, because no exercise needs so many accesses.
#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "api/observer.hpp"
#include "api/stream_queue.hpp"
#include "engine/fiber.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/rendezvous.hpp"
#include "engine/reporting.hpp"
#include "engine/watchdog.hpp"
#include "exercise.cuh"
#include "memory/address_space.hpp"

namespace lab {
namespace {

using Visit = std::tuple<const void*, uint64_t, unsigned, unsigned>;  // place, block, warp, which time
struct Request {                                                      // what the lanes of a warp access together
    std::set<uint64_t> sectors;
    std::map<uint64_t, std::set<uint64_t>> words_of_bank;
};
std::map<Visit, Request> requests;
struct Thread {
    long long accesses = 0;
    uint64_t next = 0;  // the address after its last access to global memory; below, its place and its request
    const void* place = nullptr;
    Request* request = nullptr;
};
using Number = std::pair<uint64_t, unsigned>;               // of a thread: block, rank
std::map<std::pair<Number, const void*>, unsigned> visits;  // of each thread to each place
std::map<Number, Thread> threads;
std::map<unsigned long, std::set<unsigned long>>
    earlier;                                          // for each operation of a stream: those that it waits for
std::vector<unsigned long> kernels, copies, records;  // the operations of each kind; records: of events
struct Sent {                                         // by cudaMemPrefetchAsync()
    const char *start, *end;
    bool to_the_device, after_a_kernel;
};
std::vector<Sent> sent;
size_t most_dynamic;
long long fence_calls, device_accesses;
long long barriers, atomics, global_atomics, compares, in_shared, turns;
constexpr long long most_turns = 200'000;
std::set<long long> clocks;                   // that a thread has read
std::map<const void*, long long> host_reads;  // of managed memory since begin(), at each place in the host's code
std::set<const void*> host_loops;             // the places that read more than a few elements
constexpr long long few_elements = 16;

void take_turns(unsigned number, const cudacpu::Where* where, const void* place) {
    if ((turns += number) <= most_turns) return;
    cudacpu::fault(cudaErrorLaunchTimeout, "the kernel does not end", "look at the loop's condition", where, place);
}

}  // namespace

void begin_counts() {
    requests.clear();
    visits.clear();
    threads.clear();
    earlier.clear();
    kernels.clear();
    copies.clear();
    records.clear();
    sent.clear();
    most_dynamic = 0;
    fence_calls = device_accesses = 0;
    clocks.clear();
    host_reads.clear();
    barriers = atomics = global_atomics = compares = in_shared = turns = 0;
    cudacpu::patience = 1;  // second, for a loop without memory accesses
}
bool has_run() { return turns > 0; }
bool has_read_clock(long long value) { return clocks.count(value) > 0; }

bool has_exited;
void note_host_loops(std::FILE* file) {
    for (const void* place : host_loops) {
        Dl_info program;
        if (dladdr(place, &program))
            std::fprintf(file, "%#tx\n",
                         static_cast<const char*>(place) - 1 - static_cast<char*>(program.dli_fbase));
    }
}
// If the host makes no CUDA call for a second, another thread runs the queued work.
bool host_waited() { return has_run() && pthread_equal(cudacpu::runner, pthread_self()); }
long long bytes_of_device_memory() { return static_cast<long long>(cudacpu::bytes_in_use); }
void note_fence() { ++fence_calls; }
void note_prefetch(const void* start, size_t bytes, bool to_the_device) {
    const auto* const from = static_cast<const char*>(start);
    sent.push_back({from, from + bytes, to_the_device, !kernels.empty()});
}

static bool is_shared(const cudacpu::Region& region) {
    return region.kind == cudacpu::Kind::shared || region.kind == cudacpu::Kind::dynamic;
}

static void note_host(const void* address, const char* access, const void* place) {
    if (cudacpu::self || !std::strstr(access, "read")) return;
    const cudacpu::Region* const region = cudacpu::find(address);
    if (region && region->kind == cudacpu::Kind::managed && ++host_reads[place] > few_elements)
        host_loops.insert(place);
}

enum class Access { plain, as_is, atomic };  // as_is: volatile, or part of a range. nvcc merges only plain accesses

// noinline, and compiled with -O2: the call of the hook comes last, and must become a jump.
static __attribute__((noinline)) void note(const void* address, unsigned bytes, const void* place, Access access) {
    if (!cudacpu::self || cudacpu::on_own_stack(address)) return;
    const cudacpu::Region* const region = cudacpu::find(address);
    if (!region) return;
    // Offsets count from the start of the allocation, where a sector and bank 0 begin, as on a GPU. (The CPU device
    // aligns the end of an allocation to a page.)
    const auto at = static_cast<uint64_t>(static_cast<const char*>(address) - region->start);
    const uint64_t block = cudacpu::block_number;
    take_turns(1, nullptr, place);
    Thread& thread = threads[{block, cudacpu::rank}];
    const auto touch_sectors = [&](Request& request) {
        for (uint64_t sector = at / 32; sector <= (at + bytes - 1) / 32; ++sector) request.sectors.insert(sector);
        thread.next = reinterpret_cast<uint64_t>(address) + bytes;
        thread.place = place;
        thread.request = &request;
    };
    const bool is_atomic = access == Access::atomic;
    // For an int4, g++ generates four adjacent accesses at different places; nvcc generates one.
    if (access == Access::plain && cudacpu::launch->kernel->names_vectors &&
        thread.next == reinterpret_cast<uint64_t>(address) && at % 16 != 0 && thread.place != place)
        return touch_sectors(*thread.request);
    ++thread.accesses;  // an atomic operation counts as one
    device_accesses += region->kind == cudacpu::Kind::device;
    most_dynamic = std::max(most_dynamic, cudacpu::launch->dynamic_bytes);
    const unsigned visit = visits[{{block, cudacpu::rank}, place}]++;
    Request& request = requests[{place, block, cudacpu::rank / 32, visit}];
    if (is_shared(*region)) {
        // Loads of one word by several lanes take one turn. Atomics on one word take one turn for each lane.
        const uint64_t word = at / 4, lane = is_atomic ? cudacpu::rank % 32 + 1 : 0;
        request.words_of_bank[word % 32].insert(lane << 32 | word);
        ++in_shared;
    } else {
        touch_sectors(request);
    }
}

// A struct or a memcpy. nvcc copies it in words, or in smaller parts if its alignment or size requires that.
static __attribute__((noinline)) void note_range(const void* address, size_t bytes, const void* place) {
    const auto at = reinterpret_cast<uint64_t>(address) | bytes | 4;
    const auto part = static_cast<unsigned>(at & -at);
    for (size_t done = 0; done < bytes; done += part)
        note(static_cast<const char*>(address) + done, part, place, Access::as_is);
}

}  // namespace lab

lab::Count barriers() { return {"barriers per block", "每个线程块的同步次数", lab::barriers}; }
lab::Count atomics() { return {"atomics", "原子操作次数", lab::atomics}; }
lab::Count global_atomics() { return {"atomics in global memory", "全局内存的原子操作次数", lab::global_atomics}; }
lab::Count compares() { return {"atomicCAS in global memory", "全局内存的 atomicCAS 次数", lab::compares}; }
lab::Count in_shared() { return {"loads and stores in shared memory", "共享内存的读写次数", lab::in_shared}; }
lab::Count beside_each_other() {
    long long pairs = 0;
    for (const unsigned long later : lab::kernels)
        for (const unsigned long kernel : lab::kernels)
            pairs += kernel < later && !lab::earlier[later].count(kernel);
    return {"pairs of kernels that may run at the same time", "可以同时运行的核函数对", pairs};
}
lab::Count sectors() {
    long long sum = 0;
    for (const auto& [visit, request] : lab::requests) sum += static_cast<long long>(request.sectors.size());
    return {"sectors loaded and stored", "读写的扇区数", sum};
}
lab::Count conflicts() {
    long long sum = 0;
    for (const auto& [visit, request] : lab::requests) {
        size_t turns = 1;
        for (const auto& [bank, words] : request.words_of_bank) turns = std::max(turns, words.size());
        sum += static_cast<long long>(turns) - 1;
    }
    return {"bank conflicts", "bank 冲突次数", sum};
}

static long long pairs_of(const std::vector<unsigned long>& some, const std::vector<unsigned long>& others) {
    long long pairs = 0;
    for (const unsigned long a : some)
        for (const unsigned long b : others) pairs += !lab::earlier[std::max(a, b)].count(std::min(a, b));
    return pairs;
}
lab::Count in_device_memory() {
    return {"loads and stores in memory from cudaMalloc", "cudaMalloc 内存的读写次数", lab::device_accesses};
}
lab::Count requests() {
    return {"memory requests of all warps", "线程束的访存请求次数", static_cast<long long>(lab::requests.size())};
}
lab::Count dynamic_bytes() {
    return {"bytes of dynamic shared memory", "动态共享内存的字节数", static_cast<long long>(lab::most_dynamic)};
}
lab::Count fences() { return {"calls of __threadfence()", "__threadfence() 调用次数", lab::fence_calls}; }
lab::Count events() {
    long long around = 0;
    for (const unsigned long event : lab::records) {
        const auto after = [&](unsigned long kernel) { return lab::earlier[event].count(kernel) > 0; };
        const auto before = [&](unsigned long kernel) { return lab::earlier[kernel].count(event) > 0; };
        around += std::any_of(lab::kernels.begin(), lab::kernels.end(), after) ||
                  std::any_of(lab::kernels.begin(), lab::kernels.end(), before);
    }
    return {"events recorded before or after a kernel", "核函数前后记录的事件", around};
}
lab::Count copies_beside_kernels() {
    return {"pairs of a copy and a kernel that may run at the same time", "可以同时进行的复制和核函数对",
            pairs_of(lab::copies, lab::kernels)};
}
bool prefetched(const char* name, const void* array, size_t bytes, bool to_the_device) {
    const auto* const start = static_cast<const char*>(array);
    const lab::Sent* last = nullptr;
    for (const lab::Sent& one : lab::sent)
        if (one.start >= start && one.start < start + bytes && one.to_the_device == to_the_device) last = &one;
    if (!last) {
        std::printf(to_the_device ? lab::words("the result is right, but %s is not prefetched to the device\n",
                                               "结果正确，但 %s 没有预取到设备\n")
                                  : lab::words("the result is right, but %s is not prefetched to the host\n",
                                               "结果正确，但 %s 没有预取到主机\n"),
                    name);
    } else if (last->start != start || last->end != start + bytes) {
        std::printf(lab::words("the result is right, but %lld bytes are prefetched, and %s has %lld bytes\n",
                               "结果正确，但预取了 %lld 字节，而 %s 有 %lld 字节\n"),
                    static_cast<long long>(last->end - last->start), name, static_cast<long long>(bytes));
    } else if (last->after_a_kernel == to_the_device) {
        std::printf(
            to_the_device
                ? lab::words("the result is right, but %s is prefetched after the kernel is launched: too late\n",
                             "结果正确，但 %s 在启动核函数之后才预取：太晚了\n")
                : lab::words(
                      "the result is right, but %s is prefetched to the host before the kernel is launched\n",
                      "结果正确，但 %s 在启动核函数之前就预取到主机\n"),
            name);
    } else {
        return true;
    }
    return false;
}

lab::Count accesses() {
    long long most = 0;
    for (const auto& [number, thread] : lab::threads) most = std::max(most, thread.accesses);
    return {"loads and stores of the busiest thread", "最忙的线程的读写次数", most};
}

// cudacpu::about_to_do_atomic()
#define LAB_ATOMIC(prefix) prefix##_ZN7cudacpu18about_to_do_atomicEPvjjNS_5WhereEPKv
extern "C" void LAB_ATOMIC(__real_)(void*, unsigned, unsigned, cudacpu::Where, const void*);
extern "C" void LAB_ATOMIC(__wrap_)(void* address, unsigned bytes, unsigned kind, cudacpu::Where where,
                                    const void* expected) {
    const cudacpu::Region* const region = cudacpu::find(address);
    const bool is_global = region && !lab::is_shared(*region);
    ++lab::atomics;
    lab::global_atomics += is_global;
    lab::compares += is_global && kind & cudacpu::at_compares;
    lab::take_turns(1, &where, nullptr);
    lab::note(address, bytes, __builtin_return_address(0), lab::Access::atomic);
    if (kind & cudacpu::at_compares)
        cudacpu::give_way();  // lets other threads run between a read and its atomicCAS
    LAB_ATOMIC(__real_)(address, bytes, kind, where, expected);
}

// All threads of a block have reached a barrier of any kind.
static void (*const next_at_barrier)() = cudacpu::race_observer.barrier_passed;
static void at_barrier() {
    lab::barriers += cudacpu::block_number == 0;
    lab::take_turns(cudacpu::running_block.size, &cudacpu::last_met[32], nullptr);
    next_at_barrier();
}

// A kernel or a copy is added to a stream after other operations, or waits for an event.
using Numbers = std::set<unsigned long>;
static void comes_after(unsigned long number, unsigned long other) {
    lab::earlier[number].insert(other);
    lab::earlier[number].merge(Numbers(lab::earlier[other]));
}
static const cudacpu::WorkObserver next_at_work = cudacpu::work_observer;
static void at_queued(unsigned long number, const void* stream, const Numbers& after, const char* what) {
    for (const unsigned long other : after) comes_after(number, other);
    if (!std::strcmp(what, "a kernel")) lab::kernels.push_back(number);
    if (!std::strncmp(what, "cudaMemcpy", 10)) lab::copies.push_back(number);
    if (!std::strncmp(what, "cudaEventRecord", 15)) lab::records.push_back(number);
    next_at_work.queued(number, stream, after, what);
}
static void at_wait(unsigned long number, unsigned long event) {
    comes_after(number, event);
    next_at_work.waits(number, event);
}
// After the race detector's own, which are set earlier.
[[maybe_unused]] static const bool observes =
    (cudacpu::race_observer.barrier_passed = at_barrier, cudacpu::work_observer.queued = at_queued,
     cudacpu::work_observer.waits = at_wait, true);

// A thread reads its clock: clock64(), clock() or a register.
#define LAB_CLOCK(type, name, parameters, arguments)                          \
    extern "C" type __real_##name parameters;                                 \
    extern "C" type __wrap_##name parameters {                                \
        const type value = __real_##name arguments;                           \
        if (cudacpu::self) lab::clocks.insert(static_cast<long long>(value)); \
        return value;                                                         \
    }
LAB_CLOCK(long long, _ZN7cudacpu11clock_ticksEv, (), ())
LAB_CLOCK(long, clock, (), ())
LAB_CLOCK(unsigned long long, _ZN7cudacpu16special_registerEPKc, (const char* name), (name))

// The program calls exit() itself: the check is not complete.
extern "C" [[noreturn]] void __real_exit(int status);
extern "C" [[noreturn]] void __wrap_exit(int status) {
    lab::has_exited = true;
    __real_exit(status);
}

// clang-format off
#define LAB_WRAP(name, note_it) \
    extern "C" void __real___tsan_##name(void*); \
    extern "C" void __wrap___tsan_##name(void* p) { \
        lab::note_host(p, #name, LAB_PLACE_OF_CALL); \
        note_it; \
        return __real___tsan_##name(p); \
    }
#define LAB_PLACE_OF_CALL __builtin_return_address(0)
#define LAB_WRAPS(name, bytes) \
    LAB_WRAP(name##bytes, lab::note(p, bytes, LAB_PLACE_OF_CALL, lab::Access::plain)) \
    LAB_WRAP(volatile_##name##bytes, lab::note(p, bytes, LAB_PLACE_OF_CALL, lab::Access::as_is)) \
    LAB_WRAP(unaligned_##name##bytes, lab::note_range(p, bytes, LAB_PLACE_OF_CALL)) \
    LAB_WRAP(unaligned_volatile_##name##bytes, lab::note_range(p, bytes, LAB_PLACE_OF_CALL))
#define LAB_WRAP_RANGE(name) \
    extern "C" void __real___tsan_##name(void*, size_t); \
    extern "C" void __wrap___tsan_##name(void* p, size_t bytes) { \
        lab::note_range(p, bytes, LAB_PLACE_OF_CALL); \
        return __real___tsan_##name(p, bytes); \
    }
#define LAB_WRAP_COPY(name) \
    extern "C" void* __real___tsan_##name(void*, const void*, size_t); \
    extern "C" void* __wrap___tsan_##name(void* to, const void* from, size_t bytes) { \
        lab::note_range(from, bytes, LAB_PLACE_OF_CALL); \
        lab::note_range(to, bytes, LAB_PLACE_OF_CALL); \
        return __real___tsan_##name(to, from, bytes); \
    }
// clang-format on
LAB_WRAPS(read, 1)
LAB_WRAPS(read, 2)
LAB_WRAPS(read, 4)
LAB_WRAPS(read, 8)
LAB_WRAPS(read, 16)
LAB_WRAPS(write, 1)
LAB_WRAPS(write, 2)
LAB_WRAPS(write, 4)
LAB_WRAPS(write, 8)
LAB_WRAPS(write, 16)
LAB_WRAP_RANGE(read_range)
LAB_WRAP_RANGE(write_range)
LAB_WRAP_COPY(memcpy)
LAB_WRAP_COPY(memmove)
extern "C" void* __real___tsan_memset(void*, int, size_t);
extern "C" void* __wrap___tsan_memset(void* to, int byte, size_t bytes) {
    lab::note_range(to, bytes, LAB_PLACE_OF_CALL);
    return __real___tsan_memset(to, byte, bytes);
}
