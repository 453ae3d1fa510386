// race_test.cpp - the rules of the race detector on bare data, one test a rule (MEMORY_MODEL.md).
//
// No kernel runs. The tests tell the detector what the engine would tell it: a launch begins, a thread runs, a
// barrier is passed, an access is made. They look at what the detector then knows, and at the races that it hands
// to report/ at the end of the launch.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "api/observer.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/reporting.hpp"
#include "engine/scheduler.hpp"
#include "race/access_check.hpp"
#include "race/fast_path.hpp"
#include "race/happens_before.hpp"
#include "race/perturb.hpp"
#include "race/shadow_memory.hpp"
#include "race/stream_order.hpp"
#include "race/thread_replay.hpp"

// What the compiler calls before an access of a kernel.
extern "C" {
void __tsan_write4(void*);
void __tsan_read4(void*);
void __tsan_write1(void*);
}

namespace cudacpu::race {
namespace {

std::vector<Race> reported;  // the races of the last launch

}  // namespace

/// The linker redirects the calls of report() (race/upcalls.hpp) to this function.
void take_report(const std::vector<Race>& races) asm(
    "__wrap__ZN7cudacpu4race6reportERKSt6vectorINS0_4RaceESaIS2_EE");
void take_report(const std::vector<Race>& races) { reported = races; }

namespace {

alignas(128) int memory[256];  // device memory: the detector has shadow memory for each variable of a program
const Region& program = *program_region(memory);
enum Line : uint64_t { first = 0x1000, second = 0x2000, third = 0x3000 };  // lines of the kernel

class Detector : public testing::Test {
    Kernel kernel_{"kernel", "", 1024, false};
    Launch launch_{dim3(64), dim3(64), 0, nullptr, {"kernel.cu", 1}, false, false};
    bool in_launch_ = false;
    static inline unsigned long works;

protected:
    Time begun = 0;  // when the test began
    void SetUp() override {
        std::fill(std::begin(memory), std::end(memory), 0);
        launch_.kernel = &kernel_;
        launch = &launch_;
        runs_works = true;
        begins(queued(0));
        begun = now;
    }
    void TearDown() override {
        if (in_launch_) ends();
        exit_status = 0;
    }

    // ---- what the stream queue and the engine tell the detector

    unsigned long queued(int stream, const std::set<unsigned long>& after = {}) {  // after: works that it waits for
        static const int streams[3] = {};
        work_observer.queued(++works, &streams[stream], after, "kernel");
        return works;
    }
    void begins(unsigned long work) {
        work_observer.begins(work);
        race_observer.launch_begins();
        in_launch_ = true;
        block(0);
    }
    void ends() {
        in_launch_ = false;
        reported.clear();
        race_observer.block_ends();
        self = nullptr;
        race_observer.launch_ends();
        work_observer.ended();
    }
    void block(unsigned number) {
        block_number = number;
        set_block_size(64);
        std::fill(std::begin(running_block.has_ended), std::end(running_block.has_ended), true);
        race_observer.block_begins();
        thread(0);
    }
    void next_block(unsigned number) {
        race_observer.block_ends();
        block(number);
    }
    void thread(unsigned number) {  // no other thread is ready, so none preempts it
        if (self) running_block.has_ended[rank] = true;
        running_block.has_ended[number] = false;
        become(&running_block.threads[number]);
        until_preempted = 1 << 20;
        me = &thread_state(number);
    }
    void barrier() { race_observer.barrier_passed(); }
    void fence() { race_observer.at_fence(false, Fence::full, nullptr); }
    void fence_block() { race_observer.at_fence(true, Fence::full, nullptr); }
    void release_add(int& word) {
        race_observer.at_fence(false, Fence::of_release, nullptr);
        add(word, 1);
    }
    void acquire_read(const int& word) {
        volatile_read(word);
        race_observer.at_fence(false, Fence::of_acquire, &word);
    }

    // ---- accesses of the running thread

    void read(const int& word, uint64_t line = second) { access(&word, 4, reads, line); }
    void write(int& word, int value, uint64_t line = first) { access(&word, 4, writes, line), word = value; }
    void volatile_read(const int& word) { access(&word, 4, flag, third); }
    void volatile_write(int& word, int value) { access(&word, 4, flag | writes, third), word = value; }
    void add(int& word, int value, unsigned kind = 0) {
        race_observer.at_atomic(&word, 4, kind, {"kernel.cu", 9}, nullptr);
        word += value;
    }
    void compare_and_swap(int& word, int expected, int value) {
        race_observer.at_atomic(&word, 4, at_compares, {"kernel.cu", 8}, &expected);
        if (word == expected) word = value;
    }

    // ---- what the detector knows

    Epoch epoch() const { return {first, now, uint16_t(rank), 0, 15, writes}; }  // of an access made now
    bool ordered(const Epoch& e) {                                               // before what the thread does now
        me = &thread_state(rank);
        return happens_before(e, floor_time);
    }
    bool finds_race() {
        ends();
        return !reported.empty();
    }
    static Word cell(const int& word) {
        stop_if_following();
        Shadow& s = *program.shadow;
        const size_t at = reinterpret_cast<const char*>(&word) - program.start;
        write_out(s, at / line_bytes);
        return s.words.at(at / 4);
    }
    static ShadowLine& line_of(const int& word) {
        return program.shadow->lines[(reinterpret_cast<const char*>(&word) - program.start) / line_bytes];
    }
};

// ---- vector clocks

using Clocks = Detector;
constexpr unsigned whole_block = 1024;  // in place of a rank
ClockRef clock_with(std::vector<VectorClock::Entry> entries, uint32_t prefix = 0) {
    return std::make_shared<VectorClock>(VectorClock{prefix, std::move(entries)});
}
VectorClock::Entry entry(uint64_t block, unsigned thread, Time time) { return {block << 11 | thread, time}; }

/// What a thread knows that has acquired two clocks, one after the other.
struct Acquired : Detector {
    const VectorClock& acquired(const ClockRef& a, const ClockRef& b) {
        for (const ClockRef& c : {a, b}) race::acquire(*me, Release{nullptr, c, 0, 0}, 2);
        return *me->sync->clock;
    }
};

TEST_F(Acquired, JoinTakesTheLaterTimeOfEachThread) {
    const VectorClock& c =
        acquired(clock_with({entry(1, 3, 10), entry(2, 0, 50)}), clock_with({entry(1, 3, 40), entry(2, 0, 20)}));
    EXPECT_EQ(40u, c.of(1, 3));
    EXPECT_EQ(50u, c.of(2, 0));
    EXPECT_EQ(0u, c.of(1, 4));
}
TEST_F(Acquired, JoinKeepsTheClockThatCoversTheOther) {
    const ClockRef more = clock_with({entry(1, 3, 40), entry(2, 0, 50)}), less = clock_with({entry(1, 3, 10)});
    EXPECT_EQ(more.get(), &acquired(less, more));
    EXPECT_EQ(more.get(), &acquired(more, less));
}
TEST_F(Acquired, JoinOfClocksOfWhichNoneCoversTheOther) {
    const ClockRef a = clock_with({entry(1, 3, 40)}), b = clock_with({entry(1, 4, 40)});
    EXPECT_EQ(2u, acquired(a, b).entries.size());
}
TEST_F(Acquired, AnEntryOfAWholeBlockCountsForEachThread) {
    const VectorClock& c = acquired(clock_with({entry(1, 3, 10)}), clock_with({entry(1, whole_block, 30)}));
    EXPECT_EQ(30u, c.of(1, 3));
    EXPECT_EQ(30u, c.of(1, 63));
    EXPECT_EQ(0u, c.of(2, 3));
}
TEST_F(Acquired, APrefixKnowsAllOfTheFirstBlocks) {
    const VectorClock& c = acquired(clock_with({entry(0, 3, 10), entry(5, 1, 20)}), clock_with({}, 2));
    EXPECT_EQ(~0u, c.of(0, 3));
    EXPECT_EQ(~0u, c.of(1, 60));
    EXPECT_EQ(0u, c.of(2, 0));
    EXPECT_EQ(1u, c.entries.size());  // the entry of block 0 is dropped
}
TEST_F(Acquired, ALongerPrefixIsNotCovered) {
    EXPECT_EQ(3u, acquired(clock_with({}, 3), clock_with({entry(5, 0, 1)}, 1)).prefix);
    EXPECT_EQ(3u, acquired(clock_with({entry(5, 0, 1)}, 1), clock_with({}, 3)).prefix);
}
// Each block waits for the one before it, so it releases all that the earlier ones have done.
TEST_F(Clocks, AreCompactHoweverManyBlocksTheyKnow) {
    for (unsigned b = 1; b < 40; ++b) {
        add(memory[0], 1);
        write(memory[b], 1);
        fence();
        add(memory[0], 1);
        next_block(b);
    }
    add(memory[0], 1);
    fence();
    const ClockRef& known = me->sync->clock;
    ASSERT_TRUE(known);
    EXPECT_GE(known->prefix, 38u);
    EXPECT_LE(known->entries.size(), 2u);
}
TEST_F(Clocks, AreNotCompactedPastABlockOfWhichMoreIsUnknown) {
    write(memory[1], 1);
    fence();
    add(memory[0], 1);
    fence();
    write(memory[2], 1);  // not released
    const Epoch unreleased = epoch();
    for (unsigned b : {1, 2}) {
        next_block(b);
        add(memory[0], 1);
        fence();
        add(memory[0], 1);
    }
    EXPECT_EQ(0u, me->sync->clock->prefix);
    EXPECT_FALSE(ordered(unreleased));
}
TEST_F(Clocks, AreNotCompactedPastAThreadOfWhichMoreIsUnknown) {
    thread(40);
    write(memory[2], 1);  // not released
    const Epoch unreleased = epoch();
    thread(0);
    write(memory[1], 1);
    fence();
    add(memory[0], 1);
    for (unsigned b : {1, 2}) {
        next_block(b);
        add(memory[0], 1);
        fence();
        add(memory[0], 1);
    }
    EXPECT_EQ(0u, me->sync->clock->prefix);
    EXPECT_FALSE(ordered(unreleased));
}

// ---- barriers

using HappensBefore = Detector;
TEST_F(HappensBefore, ProgramOrder) {
    const Epoch e = epoch();
    EXPECT_TRUE(ordered(e));
    thread(1);
    EXPECT_FALSE(ordered(e));
}
TEST_F(HappensBefore, ABarrierOrdersTheBlock) {
    thread(40);
    const Epoch before = epoch();
    barrier();
    const Epoch after = epoch();
    thread(3);
    EXPECT_TRUE(ordered(before));
    EXPECT_FALSE(ordered(after));
}
TEST_F(HappensBefore, ABarrierDoesNotOrderOtherBlocks) {
    const Epoch e = epoch();
    barrier();
    next_block(1);
    barrier();
    EXPECT_FALSE(ordered(e));
}
TEST_F(HappensBefore, AGridBarrierOrdersAllBlocks) {
    const Epoch e = epoch();
    next_block(1);
    EXPECT_FALSE(ordered(e));
    race_observer.grid_barrier_passed();
    EXPECT_TRUE(ordered(e));
}
TEST_F(HappensBefore, SyncwarpOrdersTheLanesOfItsMask) {
    thread(5);
    const Epoch of_5 = epoch();
    thread(9);
    const Epoch of_9 = epoch();
    race_observer.lanes_met(0, 1u << 5 | 1u << 6);
    thread(6);
    EXPECT_TRUE(ordered(of_5));
    EXPECT_FALSE(ordered(of_9));
    thread(7);
    EXPECT_FALSE(ordered(of_5));
}
TEST_F(HappensBefore, SyncwarpIsTransitive) {
    thread(5);
    const Epoch e = epoch();
    race_observer.lanes_met(0, 1u << 5 | 1u << 6);
    race_observer.lanes_met(0, 1u << 6 | 1u << 7);
    thread(7);
    EXPECT_TRUE(ordered(e));
}
TEST_F(HappensBefore, SyncwarpEndsAtItsWarp) {
    thread(5);
    const Epoch e = epoch();
    race_observer.lanes_met(0, ~0u);
    race_observer.lanes_met(32, ~0u);
    thread(37);
    EXPECT_FALSE(ordered(e));
}

// ---- release and acquire: block 0 writes, fences and changes memory[0]; another block reads memory[0] and fences

struct ReleaseAcquire : Detector {
    Epoch data;
    void data_written() {
        write(memory[10], 1);
        data = epoch();
    }
    void message() {
        data_written();
        fence();
        add(memory[0], 1);
    }
};
TEST_F(ReleaseAcquire, TwoFencesAndOneWord) {
    message();
    next_block(1);
    add(memory[0], 1);
    EXPECT_FALSE(ordered(data));
    fence();
    EXPECT_TRUE(ordered(data));
}
TEST_F(ReleaseAcquire, VolatileAccessesToo) {
    data_written();
    fence();
    volatile_write(memory[0], 1);
    next_block(1);
    volatile_read(memory[0]);
    fence();
    EXPECT_TRUE(ordered(data));
}
TEST_F(ReleaseAcquire, WeakAccessesDoNot) {
    data_written();
    fence();
    write(memory[0], 1);
    next_block(1);
    read(memory[0]);
    fence();
    EXPECT_FALSE(ordered(data));
}
TEST_F(ReleaseAcquire, NoFenceBefore) {
    data_written();
    add(memory[0], 1);
    fence();
    next_block(1);
    add(memory[0], 1);
    fence();
    EXPECT_FALSE(ordered(data));
}
TEST_F(ReleaseAcquire, NoFenceAfter) {
    message();
    next_block(1);
    fence();
    add(memory[0], 1);
    EXPECT_FALSE(ordered(data));
}
TEST_F(ReleaseAcquire, AFenceCoversEarlierWritesOnly) {
    fence();
    data_written();
    add(memory[0], 1);
    next_block(1);
    add(memory[0], 1);
    fence();
    EXPECT_FALSE(ordered(data));
}
TEST_F(ReleaseAcquire, AnotherWordOrdersNothing) {
    message();
    next_block(1);
    add(memory[1], 1);
    fence();
    EXPECT_FALSE(ordered(data));
}
TEST_F(ReleaseAcquire, ABlockFenceBeforeDoesNotReachOtherBlocks) {
    data_written();
    fence_block();
    add(memory[0], 1);
    next_block(1);
    add(memory[0], 1);
    fence();
    EXPECT_FALSE(ordered(data));
}
TEST_F(ReleaseAcquire, ABlockFenceAfterDoesNotReachOtherBlocks) {
    message();
    next_block(1);
    add(memory[0], 1);
    fence_block();
    EXPECT_FALSE(ordered(data));
}
TEST_F(ReleaseAcquire, BlockFencesOrderTheBlock) {
    data_written();
    fence_block();
    add(memory[0], 1);
    thread(40);
    add(memory[0], 1);
    fence_block();
    EXPECT_TRUE(ordered(data));
}
TEST_F(ReleaseAcquire, ANarrowAtomicReleasesToItsBlockOnly) {
    data_written();
    fence();
    add(memory[0], 1, narrow);
    thread(40);
    add(memory[0], 1, narrow);
    fence();
    EXPECT_TRUE(ordered(data));
    next_block(1);
    add(memory[0], 1);
    fence();
    EXPECT_FALSE(ordered(data));
}
TEST_F(ReleaseAcquire, ANarrowAtomicAcquiresFromItsBlockOnly) {
    message();
    next_block(1);
    add(memory[0], 1, narrow);
    fence();
    EXPECT_FALSE(ordered(data));
}
TEST_F(ReleaseAcquire, AnAtomicContinuesAReleaseSequence) {
    message();
    next_block(1);
    add(memory[0], 1);  // neither fence
    next_block(2);
    add(memory[0], 1);
    fence();
    EXPECT_TRUE(ordered(data));
}
TEST_F(ReleaseAcquire, AVolatileWriteEndsAReleaseSequence) {
    message();
    next_block(1);
    volatile_write(memory[0], 7);
    next_block(2);
    add(memory[0], 1);
    fence();
    EXPECT_FALSE(ordered(data));
}
TEST_F(ReleaseAcquire, AnAtomicThatChangesNothingReleasesNothing) {
    data_written();
    fence();
    add(memory[0], 0);
    next_block(1);
    add(memory[0], 1);
    fence();
    EXPECT_FALSE(ordered(data));
}
TEST_F(ReleaseAcquire, ABarrierAfterATicketAcquires) {
    message();
    next_block(1);
    add(memory[0], 1);
    barrier();
    thread(40);
    EXPECT_TRUE(ordered(data));
}
TEST_F(ReleaseAcquire, AReleaseOperationPublishesThroughItsWordOnly) {
    data_written();
    release_add(memory[0]);
    add(memory[1], 1);
    next_block(1);
    acquire_read(memory[1]);
    EXPECT_FALSE(ordered(data));
    acquire_read(memory[0]);
    EXPECT_TRUE(ordered(data));
}
TEST_F(ReleaseAcquire, AnAcquireOperationAcquiresFromItsWordOnly) {
    data_written();
    release_add(memory[0]);
    next_block(1);
    volatile_read(memory[0]);
    acquire_read(memory[1]);
    EXPECT_FALSE(ordered(data));
    release_add(memory[1]);
    EXPECT_FALSE(ordered(data));
    acquire_read(memory[0]);
    EXPECT_TRUE(ordered(data));
}
TEST_F(ReleaseAcquire, SharedMemoryKeepsItsReleasesInItsBlock) {
    data_written();
    fence();
    me = &thread_state(rank);
    release("word", atomic, true, current_release(atomic));
    thread(40);
    me = &thread_state(rank);
    acquire("word", atomic, true);
    fence();
    EXPECT_TRUE(ordered(data));
    next_block(1);
    me = &thread_state(rank);
    acquire("word", atomic, true);
    fence();
    EXPECT_FALSE(ordered(data));
}

// ---- cumulativity: thread 0 of block 0 publishes what another thread wrote

TEST_F(ReleaseAcquire, CumulativityByABarrier) {
    thread(40);
    data_written();
    barrier();
    thread(0);
    fence();
    add(memory[0], 1);
    next_block(1);
    add(memory[0], 1);
    fence();
    EXPECT_TRUE(ordered(data));
}
TEST_F(ReleaseAcquire, CumulativityBySyncwarp) {
    thread(5);
    data_written();
    race_observer.lanes_met(0, 1u << 5 | 1u);
    thread(0);
    fence();
    add(memory[0], 1);
    next_block(1);
    add(memory[0], 1);
    fence();
    EXPECT_TRUE(ordered(data));
}
TEST_F(ReleaseAcquire, CumulativityByAnAcquire) {
    message();
    next_block(1);
    add(memory[0], 1);
    fence();
    add(memory[1], 1);
    next_block(2);
    add(memory[1], 1);
    fence();
    EXPECT_TRUE(ordered(data));
}
TEST_F(ReleaseAcquire, ATicketWithoutAFenceIsNotPassedOn) {
    message();
    next_block(1);
    fence();
    add(memory[0], 1);
    add(memory[1], 1);
    next_block(2);
    add(memory[1], 1);
    fence();
    EXPECT_FALSE(ordered(data));
}
TEST_F(ReleaseAcquire, AFenceOfAnotherThreadPublishesNothing) {
    thread(40);
    data_written();
    thread(0);
    fence();
    add(memory[0], 1);
    next_block(1);
    add(memory[0], 1);
    fence();
    EXPECT_FALSE(ordered(data));
}
TEST_F(ReleaseAcquire, AfterABarrierAnyThreadReleasesWhatAnotherFenced) {
    thread(40);
    data_written();
    fence();
    barrier();
    thread(0);
    add(memory[0], 1);
    next_block(1);
    add(memory[0], 1);
    fence();
    EXPECT_TRUE(ordered(data));
}
TEST_F(ReleaseAcquire, APausedBlockKeepsWhatItKnows) {
    data_written();
    fence();
    race_observer.block_pauses();
    block(1);
    thread(0);
    const Epoch beside = epoch();
    race_observer.block_pauses();
    block_number = 0;
    race_observer.block_goes_on();
    thread(0);
    EXPECT_TRUE(ordered(data));
    EXPECT_FALSE(ordered(beside));
    add(memory[0], 1);
    race_observer.block_pauses();
    block_number = 1;
    race_observer.block_goes_on();
    thread(0);
    EXPECT_TRUE(ordered(beside));
    add(memory[0], 1);
    fence();
    EXPECT_TRUE(ordered(data));
}
TEST_F(HappensBefore, APausedBlockKeepsItsLastBarrier) {
    thread(40);
    const Epoch before = epoch();
    barrier();
    const Epoch after = epoch();
    race_observer.block_pauses();
    block(1);
    barrier();
    race_observer.block_pauses();
    block_number = 0;
    race_observer.block_goes_on();
    thread(0);
    EXPECT_TRUE(ordered(before));
    EXPECT_FALSE(ordered(after));
    race_observer.block_pauses();
    block_number = 1;
    race_observer.block_goes_on();
    thread(0);
}

// ---- shadow cells: which access is kept

using ShadowCells = Detector;
TEST_F(ShadowCells, AWeakWriteStandsBesideAStrongOne) {
    write(memory[3], 1);
    thread(1);
    add(memory[3], 1);
    const Word w = cell(memory[3]);
    EXPECT_EQ(0, w.cell.write.rank);
    EXPECT_EQ(1, w.sync.synced.rank);
    EXPECT_EQ(atomic | writes, w.sync.synced.access);
}
TEST_F(ShadowCells, TwoUnorderedReadersAreKept) {
    read(memory[3]);
    thread(40);
    read(memory[3]);
    const Word w = cell(memory[3]);
    EXPECT_EQ((std::set<int>{0, 40}), (std::set<int>{w.cell.read.rank, w.sync.read.rank}));
}
TEST_F(ShadowCells, AnOrderedReaderIsReplacedFirst) {
    read(memory[3]);
    barrier();
    thread(40);
    read(memory[3]);
    thread(41);
    read(memory[3]);
    const Word w = cell(memory[3]);
    EXPECT_EQ((std::set<int>{40, 41}), (std::set<int>{w.cell.read.rank, w.sync.read.rank}));
}
TEST_F(ShadowCells, AThreadHasOneReadAtMost) {
    read(memory[3], first);
    read(memory[3], second);
    const Word w = cell(memory[3]);
    EXPECT_EQ(1, (w.cell.read.time >= begun) + (w.sync.read.time >= begun));
    EXPECT_EQ(second, std::max(w.cell.read, w.sync.read, [](auto& x, auto& y) { return x.time < y.time; }).site);
}
TEST_F(ShadowCells, AWeakReadReplacesAVolatileOne) {
    volatile_read(memory[3]);
    for (unsigned t : {1, 2}) thread(t), read(memory[3]);
    const Word w = cell(memory[3]);
    EXPECT_EQ((std::set<int>{1, 2}), (std::set<int>{w.cell.read.rank, w.sync.read.rank}));
}
TEST_F(ShadowCells, AVolatileReadReplacesNoWeakOne) {
    read(memory[3]);
    thread(1);
    read(memory[3]);
    thread(2);
    volatile_read(memory[3]);
    const Word w = cell(memory[3]);
    EXPECT_EQ((std::set<int>{0, 1}), (std::set<int>{w.cell.read.rank, w.sync.read.rank}));
}
TEST_F(ShadowCells, TheLastAtomicOfAnotherThreadIsKept) {
    add(memory[3], 1);
    thread(1);
    add(memory[3], 1);
    add(memory[3], 1);
    const Word w = cell(memory[3]);
    EXPECT_EQ(1, w.sync.synced.rank);
    EXPECT_EQ(0, w.sync.other.rank);
    EXPECT_GE(w.sync.other.time, begun);
}
TEST_F(ShadowCells, TheLastAtomicOfAnotherThreadIsKeptIfThreadsFence) {  // then not on the fast path
    for (unsigned t : {0, 1}) thread(t), fence(), add(memory[3], 1), add(memory[3], 1);
    const Word w = cell(memory[3]);
    EXPECT_EQ(1, w.sync.synced.rank);
    EXPECT_EQ(0, w.sync.other.rank);
    EXPECT_GE(w.sync.other.time, begun);
}
TEST_F(ShadowCells, ACasThatFailsIsARead) {
    memory[3] = 5;
    compare_and_swap(memory[3], 4, 6);
    EXPECT_LT(cell(memory[3]).sync.synced.time, begun);
    compare_and_swap(memory[3], 5, 6);
    EXPECT_EQ(atomic | writes, cell(memory[3]).sync.synced.access);
}

// ---- what a race is

using Conflicts = Detector;
TEST_F(Conflicts, TwoReadsAreNone) {
    read(memory[3]);
    thread(1);
    read(memory[3]);
    EXPECT_FALSE(finds_race());
}
TEST_F(Conflicts, AWriteAndARead) {
    write(memory[3], 1);
    thread(1);
    read(memory[3]);
    ASSERT_TRUE(finds_race());
    EXPECT_EQ(first, reported[0].before.site);
    EXPECT_EQ(second, reported[0].after.site);
    EXPECT_EQ(1u, reported[0].after.rank);
    EXPECT_FALSE(reported[0].equal);
}
TEST_F(Conflicts, AReadAndALaterWrite) {
    read(memory[3]);
    thread(1);
    write(memory[3], 1);
    EXPECT_TRUE(finds_race());
}
TEST_F(Conflicts, EqualWritesAreANote) {
    write(memory[3], 7, first);
    thread(1);
    write(memory[3], 7, second);
    ASSERT_TRUE(finds_race());
    EXPECT_TRUE(reported[0].equal);
}
TEST_F(Conflicts, ALostUpdateIsNotANote) {
    volatile_read(memory[3]);
    thread(1);
    volatile_write(memory[3], 7);
    thread(0);
    volatile_write(memory[3], 7);
    ASSERT_TRUE(finds_race());
    EXPECT_FALSE(reported[0].equal);
}
TEST_F(Conflicts, AWeakAccessAndAnAtomic) {
    add(memory[3], 1);
    thread(1);
    read(memory[3]);
    EXPECT_TRUE(finds_race());
}
TEST_F(Conflicts, TwoAtomicsAreNone) {
    add(memory[3], 1);
    next_block(1);
    add(memory[3], 1);
    EXPECT_FALSE(finds_race());
}
TEST_F(Conflicts, ANarrowAtomicAndAnAtomicOfAnotherBlock) {
    add(memory[3], 1, narrow);
    next_block(1);
    add(memory[3], 1);
    EXPECT_TRUE(finds_race());
}
TEST_F(Conflicts, NarrowAtomicsOfOneBlockAreNone) {
    add(memory[3], 1, narrow);
    thread(40);
    add(memory[3], 1, narrow);
    EXPECT_FALSE(finds_race());
}
TEST_F(Conflicts, NeighbouringBytesAreNone) {
    auto* const bytes = reinterpret_cast<char*>(&memory[3]);
    access(bytes, 1, writes, first), bytes[0] = 1;
    thread(1);
    access(bytes + 1, 1, writes, second), bytes[1] = 1;
    EXPECT_FALSE(finds_race());
}
TEST_F(Conflicts, AByteAndItsWord) {
    auto* const bytes = reinterpret_cast<char*>(&memory[3]);
    access(bytes + 2, 1, writes, first), bytes[2] = 1;
    thread(1);
    read(memory[3]);
    EXPECT_TRUE(finds_race());
}
TEST_F(Conflicts, AWordAndItsByte) {
    write(memory[3], 0x01010101);
    thread(1);
    access(reinterpret_cast<char*>(&memory[3]) + 3, 1, reads, second);
    EXPECT_TRUE(finds_race());
}
TEST_F(Conflicts, TheLastTicketMayResetItsCounter) {
    add(memory[3], 1);
    next_block(1);
    add(memory[3], 1);
    fence();
    write(memory[3], 0);
    EXPECT_FALSE(finds_race());
}

// ---- coalesced spans: one record for the accesses of neighbouring threads

struct Spans : Detector {
    /// Thread t writes array[t] by way of the compiler's call. All calls have one line.
    void row_written(int* array, unsigned threads) {
        for (unsigned t = 0; t < threads; ++t) {
            thread(t);
            __tsan_write4(&array[t]);
            array[t] = int(t);
        }
        stop_if_following();
    }
    int* const row = memory + 32;  // it begins a line
};
TEST_F(Spans, ARowIsOneRecord) {
    row_written(row, 32);
    const ShadowLine& line = line_of(*row);
    EXPECT_EQ(~0u, line.write.done);
    EXPECT_EQ(4u, line.write.bytes());
    EXPECT_EQ(now, line.write.time());
    EXPECT_LT(line.read.time(), begun);
}
TEST_F(Spans, ARecordIsExpandedIntoTheCellsOfItsThreads) {
    row_written(row, 20);
    const uint64_t site = line_of(*row).write.site;
    for (unsigned t = 0; t < 20; ++t) {
        const Epoch& e = cell(row[t]).cell.write;
        EXPECT_EQ(t, e.rank);
        EXPECT_EQ(site, e.site);
        EXPECT_EQ(now, e.time);
        EXPECT_EQ(15, e.bytes);
    }
    EXPECT_LT(cell(row[20]).cell.write.time, begun);
    EXPECT_EQ(0u, line_of(*row).write.done);  // the cells have it now
}
TEST_F(Spans, AnElementOfAnotherThreadIsNotOfTheRow) {
    row_written(row, 8);
    thread(40);
    __tsan_write4(&row[9]);
    EXPECT_EQ(40, cell(row[9]).cell.write.rank);
    EXPECT_EQ(3, cell(row[3]).cell.write.rank);
}
TEST_F(Spans, AnAccessToARecordedElementIsCompared) {
    row_written(row, 32);
    thread(40);
    read(row[5]);
    ASSERT_TRUE(finds_race());
    EXPECT_EQ(5u, reported[0].before.rank);
}
TEST_F(Spans, TheNeighbourOfARowIsNoConflict) {
    row_written(row, 31);
    thread(40);
    read(row[31]);
    EXPECT_FALSE(finds_race());
}
TEST_F(Spans, AWrittenRowIsComparedWithTheReadOne) {
    for (unsigned t = 0; t < 32; ++t) thread(t), __tsan_read4(&row[t]);
    for (unsigned t = 0; t < 31; ++t) thread(t), __tsan_write4(&row[t + 1]);
    EXPECT_TRUE(finds_race());
}
TEST_F(Spans, ARowMayBeReadAndWrittenByItsThreads) {
    for (unsigned t = 0; t < 32; ++t) thread(t), __tsan_read4(&row[t]);
    for (unsigned t = 0; t < 32; ++t) thread(t), __tsan_write4(&row[t]);
    EXPECT_FALSE(finds_race());
}
TEST_F(Spans, ARowThatABarrierHasOrderedIsNoConflict) {
    row_written(row, 32);
    barrier();
    row_written(row, 16);
    for (unsigned t = 0; t < 32; ++t) {
        thread(t);
        if (t >= 16) read(row[t ^ 1]);
    }
    EXPECT_FALSE(finds_race());
}
TEST_F(Spans, ShortElementsHaveLinesOfTheirOwn) {
    auto* const bytes = reinterpret_cast<char*>(row);
    for (unsigned t = 0; t < 32; ++t) {
        thread(t);
        __tsan_write1(&bytes[t]);
    }
    cell(*row);
    const size_t at = bytes - program.start;
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(t, program.shadow->bytes.at(at + t).cell.write.rank);
    EXPECT_EQ(1 << 2, program.shadow->bytes.at(at + 2).cell.write.bytes);
}

// ---- replay: a thread that makes the accesses of the previous one, an element further

struct Replay : Detector {
    int *const a = memory + 64, *const b = memory + 128;
    /// Reads a[of_a] and writes b[of_b], always by the same two calls.
    [[gnu::noinline]] void accesses(unsigned number, unsigned of_a, unsigned of_b) {
        thread(number);
        __tsan_read4(&a[of_a]);
        __tsan_write4(&b[of_b]);
        b[of_b] = 100 + int(number);
    }
    void threads(unsigned from, unsigned to) {
        for (unsigned t = from; t < to; ++t) accesses(t, t, t);
    }
    void SetUp() override {
        Detector::SetUp();
        in_vain = until_leader = 0;
        barrier();  // the next thread leads
    }
};
TEST_F(Replay, AThreadFollows) {
    threads(0, 3);
    EXPECT_EQ(2u, follower);
    EXPECT_EQ(2u, leader.steps);
    EXPECT_EQ(replay_steps + 2, replay_step);
    EXPECT_EQ(1u, line_of(*b).write.done);  // not recorded while threads follow
    stop_if_following();
    EXPECT_EQ(7u, line_of(*b).write.done);
    EXPECT_EQ(7u, line_of(*a).read.done);
}
TEST_F(Replay, AFollowersAccessIsComparedLater) {
    threads(0, 8);
    thread(40);
    read(b[5]);
    ASSERT_TRUE(finds_race());
    EXPECT_EQ(5u, reported[0].before.rank);
}
TEST_F(Replay, AFollowerThatDeviatesKeepsWhatItHasDone) {
    threads(0, 7);
    accesses(7, 7, 0);
    EXPECT_EQ(&nowhere, replay_step);
    EXPECT_EQ(0xffu, line_of(*a).read.done);
    EXPECT_EQ(7, cell(a[7]).cell.read.rank);
    EXPECT_LT(cell(b[7]).cell.write.time, begun);
    ASSERT_TRUE(finds_race());  // it has written b[0], as thread 0 has
    EXPECT_EQ(0u, reported[0].before.rank);
    EXPECT_EQ(7u, reported[0].after.rank);
}
TEST_F(Replay, ASkippedThreadEndsIt) {
    threads(0, 3);
    threads(4, 5);
    stop_if_following();
    EXPECT_EQ(0x17u, line_of(*b).write.done);
    EXPECT_LT(cell(b[3]).cell.write.time, begun);
    EXPECT_EQ(4, cell(b[4]).cell.write.rank);
}
TEST_F(Replay, AThreadOutOfTurnDoesNotFollow) {  // although it makes the accesses that thread 3 would make
    threads(0, 3);
    accesses(4, 3, 3);
    EXPECT_EQ(4, cell(b[3]).cell.write.rank);
}

// ---- critical sections: each block takes the lock memory[0] and accesses memory[10]

struct CriticalSections : Detector {
    enum Fences { none = 0, entering = 1, leaving = 2, both = 3 };
    void section(int fences, bool block_only = false, int data = 10) {
        const auto a_fence = [&] { block_only ? fence_block() : fence(); };
        compare_and_swap(memory[0], 0, 1);
        if (fences & entering) a_fence();
        read(memory[data], second);
        write(memory[data], memory[data] + 1, first);
        if (fences & leaving) a_fence();
        race_observer.at_atomic(&memory[0], 4, at_exchanges, {"kernel.cu", 12}, nullptr);
        memory[0] = 0;
    }
};
TEST_F(CriticalSections, BothFencesInBoth) {
    section(both);
    next_block(1);
    section(both);
    EXPECT_FALSE(finds_race());
}
TEST_F(CriticalSections, TheFirstEntersWithoutAFence) {  // it would read too early if it came second
    section(leaving);
    next_block(1);
    section(both);
    EXPECT_TRUE(finds_race());
}
TEST_F(CriticalSections, TheLastEntersWithoutAFence) {
    section(both);
    next_block(1);
    section(leaving);
    EXPECT_TRUE(finds_race());
}
TEST_F(CriticalSections, TheFirstLeavesWithoutAFence) {
    section(entering);
    next_block(1);
    section(both);
    EXPECT_TRUE(finds_race());
}
TEST_F(CriticalSections, TheLastLeavesWithoutAFence) {  // its writes would come too late if it came first
    section(both);
    next_block(1);
    section(entering);
    EXPECT_TRUE(finds_race());
}
TEST_F(CriticalSections, BlockFencesInTwoBlocks) {
    section(both, true);
    next_block(1);
    section(both, true);
    EXPECT_TRUE(finds_race());
}
TEST_F(CriticalSections, TheFirstEntersWithABlockFence) {  // which is too narrow if it came second
    compare_and_swap(memory[0], 0, 1);
    fence_block();
    write(memory[10], 1);
    fence();
    race_observer.at_atomic(&memory[0], 4, at_exchanges, {"kernel.cu", 12}, nullptr);
    memory[0] = 0;
    next_block(1);
    section(both);
    EXPECT_TRUE(finds_race());
}
TEST_F(CriticalSections, BlockFencesInOneBlock) {
    section(both, true);
    thread(40);
    section(both, true);
    EXPECT_FALSE(finds_race());
}
TEST_F(CriticalSections, WithoutCommonDataTheyDoNotOrderWhatFollows) {
    write(memory[20], 1);
    section(both, false, 10);
    next_block(1);
    section(both, false, 11);
    read(memory[20]);
    EXPECT_TRUE(finds_race());
}
TEST_F(CriticalSections, WithCommonDataTheyOrderWhatFollows) {
    write(memory[20], 1);
    section(both);
    next_block(1);
    section(both);
    read(memory[20]);
    EXPECT_FALSE(finds_race());
}

// ---- optimistic reads: a weak read of a word that others change by CAS

using OptimisticReads = Detector;
TEST_F(OptimisticReads, AReadThatItsThreadComparesIsAccepted) {
    read(memory[3]);
    thread(1);
    compare_and_swap(memory[3], 0, 5);
    thread(0);
    compare_and_swap(memory[3], 0, 6);
    write(memory[20], 1);
    EXPECT_FALSE(finds_race());
}
TEST_F(OptimisticReads, AReadOfWhichAnotherValueIsComparedIsNot) {
    read(memory[3]);
    thread(1);
    compare_and_swap(memory[3], 0, 5);
    thread(0);
    compare_and_swap(memory[3], 5, 6);
    write(memory[20], 1);
    EXPECT_TRUE(finds_race());
}
TEST_F(OptimisticReads, AReadThatIsUsedWithoutACasIsNot) {
    read(memory[3]);
    thread(1);
    compare_and_swap(memory[3], 0, 5);
    thread(0);
    write(memory[20], 1);
    EXPECT_TRUE(finds_race());
}
TEST_F(OptimisticReads, AThreadThatWritesNothingAfterwardsIsAccepted) {
    read(memory[3]);
    thread(1);
    compare_and_swap(memory[3], 0, 5);
    EXPECT_FALSE(finds_race());
}
TEST_F(OptimisticReads, AReadBesideOtherAtomicsIsNot) {
    read(memory[3]);
    thread(1);
    add(memory[3], 5);
    EXPECT_TRUE(finds_race());
}

// ---- volatile data: block 0 writes data and memory[0], block 1 reads memory[0]

using VolatileData = Detector;
TEST_F(VolatileData, AnUnfencedValueIsARace) {
    write(memory[10], 1);
    volatile_write(memory[0], 1);
    volatile_write(memory[0], 2);
    next_block(1);
    volatile_read(memory[0]);
    EXPECT_TRUE(finds_race());
}
TEST_F(VolatileData, AFencedValueIsAFlag) {
    write(memory[10], 1);
    fence();
    volatile_write(memory[0], 1);
    next_block(1);
    volatile_read(memory[0]);
    EXPECT_FALSE(finds_race());
}
TEST_F(VolatileData, AWordThatAThreadWaitsForIsAFlag) {
    write(memory[10], 1);
    volatile_write(memory[0], 1);
    volatile_write(memory[0], 2);
    next_block(1);
    for (int turn = 0; turn < 3; ++turn) volatile_read(memory[0]);
    EXPECT_FALSE(finds_race());
}
TEST_F(VolatileData, AWordThatAnotherThreadWaitsForIsAFlag) {
    write(memory[10], 1);
    volatile_write(memory[0], 1);
    volatile_write(memory[0], 2);
    next_block(1);
    access(&memory[0], 4, flag, second);
    thread(1);
    for (int turn = 0; turn < 3; ++turn) volatile_read(memory[0]);
    EXPECT_FALSE(finds_race());
}
TEST_F(VolatileData, AnUpdateThatIsLostIsARace) {  // although the word is a flag
    for (unsigned t : {0, 1}) {
        thread(t);
        write(memory[10 + t], 1);
        fence();
        volatile_read(memory[0]);
    }
    volatile_write(memory[0], 1);
    thread(0);
    volatile_write(memory[0], 2);
    EXPECT_TRUE(finds_race());
}
TEST_F(VolatileData, AnUpdateOfTheNewestValueIsNot) {
    for (unsigned t : {0, 1}) {
        thread(t);
        write(memory[10 + t], 1);
        fence();
        volatile_read(memory[0]);
        volatile_write(memory[0], memory[0] + 1);
    }
    EXPECT_FALSE(finds_race());
}

// ---- torn reads: memory[0] is the version of memory[1] and memory[2]

struct TornReads : Detector {
    void rounds(bool fences) {  // block 1 writes
        next_block(1);
        for (int round = 0; round < 2; ++round) {
            volatile_write(memory[0], memory[0] + 1);
            if (fences) fence();
            for (int word : {1, 2}) volatile_write(memory[word], memory[word] + 1);
            fence();
            volatile_write(memory[0], memory[0] + 1);
        }
    }
    void reader(bool looks_again, bool fences = true) {  // block 0, so nothing orders it after the writes
        volatile_read(memory[0]);
        if (fences) fence();
        for (int word : {1, 2}) volatile_read(memory[word]);
        fence();
        if (looks_again) volatile_read(memory[0]);
    }
};
TEST_F(TornReads, AVersionWithFencesOnBothSidesGuardsItsWords) {
    reader(true);
    rounds(true);
    EXPECT_FALSE(finds_race());
}
TEST_F(TornReads, AReaderThatLooksOnceMayGetAMix) {
    reader(false);
    rounds(true);
    EXPECT_TRUE(finds_race());
}
TEST_F(TornReads, AReaderWithoutAFenceMayGetAMix) {
    reader(true, false);
    rounds(true);
    EXPECT_TRUE(finds_race());
}
TEST_F(TornReads, AWriterWithoutAFenceMayWriteAMix) {
    reader(true);
    rounds(false);
    EXPECT_TRUE(finds_race());
}

// ---- stream order: each work is a kernel

struct StreamOrder : Detector {
    void SetUp() override {
        Detector::SetUp();
        ends();
    }
    void TearDown() override {
        Detector::TearDown();
        for (unsigned long number : never_run) work_observer.begins(number), work_observer.ended();
    }
    std::vector<unsigned long> never_run;  // works that the test has left in the queue
    /// Whether an access of the first work happens before one of the second. They run in this order.
    bool works_ordered(unsigned long earlier, unsigned long later) {
        begins(earlier);
        const Epoch e = epoch();
        ends();
        begins(later);
        return ordered(e);
    }
};
TEST_F(StreamOrder, OneStreamIsInOrder) {
    const auto a = queued(0), b = queued(0), other = queued(1);
    never_run = {other};
    EXPECT_TRUE(works_ordered(a, b));
}
TEST_F(StreamOrder, TwoStreamsAreNot) {
    const auto a = queued(0), b = queued(1);
    EXPECT_FALSE(works_ordered(a, b));
}
TEST_F(StreamOrder, AnEventOrdersThem) {
    const auto a = queued(0), b = queued(1, {a});
    EXPECT_TRUE(works_ordered(a, b));
}
TEST_F(StreamOrder, AnEventOrdersEarlierWorksOfItsStream) {
    const auto a = queued(0), second = queued(0), b = queued(1, {second});
    never_run = {second};
    EXPECT_TRUE(works_ordered(a, b));
}
TEST_F(StreamOrder, AnEventDoesNotOrderLaterWorksOfItsStream) {
    const auto first = queued(0), a = queued(0), b = queued(1, {first});
    never_run = {first};
    EXPECT_FALSE(works_ordered(a, b));
}
TEST_F(StreamOrder, EventsAreTransitive) {
    const auto a = queued(0), b = queued(1, {a}), c = queued(2, {b});
    never_run = {b};
    EXPECT_TRUE(works_ordered(a, c));
}
TEST_F(StreamOrder, AWorkQueuedAfterAWaitOfTheHostIsOrdered) {
    const auto a = queued(0), beside = queued(1);
    never_run = {beside};
    begins(a);
    const Epoch e = epoch();
    ends();
    const auto b = queued(2);
    begins(b);
    EXPECT_TRUE(ordered(e));
}

// ---- programmatic dependent launch: the second kernel need not wait for the first

struct DependentLaunch : StreamOrder {
    Epoch of_primary;
    void secondary_begins() {
        const auto a = queued(0), b = queued(0);
        work_observer.is_secondary(a);
        begins(a);
        of_primary = epoch();
        ends();
        begins(b);
    }
};
TEST_F(DependentLaunch, TheSecondaryIsNotOrdered) {
    secondary_begins();
    EXPECT_FALSE(ordered(of_primary));
}
TEST_F(DependentLaunch, AThreadThatWaitsIsOrdered) {
    secondary_begins();
    race_observer.grid_dependency_met();
    EXPECT_TRUE(ordered(of_primary));
    thread(1);
    EXPECT_FALSE(ordered(of_primary));
}
TEST_F(DependentLaunch, ABarrierOrdersTheOthersOfItsBlock) {
    secondary_begins();
    race_observer.grid_dependency_met();
    barrier();
    thread(40);
    EXPECT_TRUE(ordered(of_primary));
    next_block(1);
    EXPECT_FALSE(ordered(of_primary));
}
TEST_F(DependentLaunch, ReleaseAndAcquirePassItOn) {
    secondary_begins();
    race_observer.grid_dependency_met();
    fence();
    add(memory[0], 1);
    next_block(1);
    add(memory[0], 1);
    fence();
    EXPECT_TRUE(ordered(of_primary));
}

}  // namespace
}  // namespace cudacpu::race
