#include "reduce.hpp"
#include <gtest/gtest.h>
TEST(Reduce, Ones) { EXPECT_EQ(reduce_sum(std::vector<int>(10000, 1)), 10000); }
TEST(Reduce, Throws) { EXPECT_THROW(reduce_sum({}), std::invalid_argument); }
class Sizes : public ::testing::TestWithParam<int> {};
TEST_P(Sizes, Sum) { EXPECT_EQ(reduce_sum(std::vector<int>(GetParam(), -2)), -2LL * GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, Sizes, ::testing::Values(1, 31, 32, 33, 1025));
