// memory_counters_test.cpp - the rules of the memory counters on bare data: sectors and bank conflicts of a warp's
// request.
#include "warp/memory_counters.hpp"

#include <gtest/gtest.h>

using namespace cudacpu::warp;

namespace {

/// A request of the lanes in `mask`: lane i accesses `bytes` bytes at address_of(i).
template <class F>
Request request(unsigned bytes, F address_of, unsigned mask = ~0u) {
    Request r{};
    r.mask = mask;
    r.bytes = bytes;
    for (unsigned lane = 0; lane < 32; ++lane) r.at[lane] = address_of(lane);
    return r;
}

}  // namespace

TEST(Sectors, NeighbouringWordsShareThem) {
    EXPECT_EQ(4u, sectors(request(4, [](unsigned i) { return 4 * i; })));
    EXPECT_EQ(1u, sectors(request(1, [](unsigned i) { return i; })));
    EXPECT_EQ(16u, sectors(request(16, [](unsigned i) { return 16 * i; })));
}
TEST(Sectors, EachStrideOf32BytesCostsOne) {
    EXPECT_EQ(8u, sectors(request(4, [](unsigned i) { return 8 * i; })));
    EXPECT_EQ(32u, sectors(request(4, [](unsigned i) { return 32 * i; })));
    EXPECT_EQ(32u, sectors(request(4, [](unsigned i) { return 4096 * i; })));
}
TEST(Sectors, AMisalignedRowTouchesOneMore) {
    EXPECT_EQ(5u, sectors(request(4, [](unsigned i) { return 4 + 4 * i; })));
}
TEST(Sectors, AnAccessAcrossABoundaryTouchesTwo) {
    EXPECT_EQ(2u, sectors(request(
                      8, [](unsigned) { return 28; }, 1)));
    EXPECT_EQ(1u, sectors(request(
                      8, [](unsigned) { return 24; }, 1)));
}
TEST(Sectors, TheSameAddressCostsOnce) {
    EXPECT_EQ(1u, sectors(request(4, [](unsigned) { return 64; })));
}
TEST(Sectors, AbsentLanesCostNothing) {
    EXPECT_EQ(1u, sectors(request(
                      4, [](unsigned i) { return 4 * i; }, 0xff)));
    EXPECT_EQ(2u, sectors(request(
                      4, [](unsigned i) { return 4 * i; }, 0x80000001)));
}

TEST(BankConflicts, ARowHasNone) {
    EXPECT_EQ(0u, extra_wavefronts(request(4, [](unsigned i) { return 4 * i; })));
    EXPECT_EQ(0u, extra_wavefronts(request(4, [](unsigned i) { return 4 * (31 - i); })));
}
TEST(BankConflicts, AStrideOfTwoWordsDoublesTheWavefronts) {
    EXPECT_EQ(1u, extra_wavefronts(request(4, [](unsigned i) { return 8 * i; })));
    EXPECT_EQ(31u, extra_wavefronts(request(4, [](unsigned i) { return 128 * i; })));
}
TEST(BankConflicts, APaddedColumnHasNone) {
    EXPECT_EQ(0u, extra_wavefronts(request(4, [](unsigned i) { return 132 * i; })));
}
TEST(BankConflicts, LanesThatReadOneWordShareIt) {
    EXPECT_EQ(0u, extra_wavefronts(request(4, [](unsigned) { return 4; })));
    EXPECT_EQ(0u, extra_wavefronts(request(1, [](unsigned i) { return i; })));
}
TEST(BankConflicts, WideAccessesAreServedInParts) {
    EXPECT_EQ(0u, extra_wavefronts(request(8, [](unsigned i) { return 8 * i; })));    // two half warps
    EXPECT_EQ(0u, extra_wavefronts(request(16, [](unsigned i) { return 16 * i; })));  // four quarter warps
    EXPECT_EQ(2u, extra_wavefronts(request(8, [](unsigned i) { return 16 * i; })));
}
