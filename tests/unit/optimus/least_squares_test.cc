#include "optimus/least_squares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr double kExact = 1e-12;

TEST(LeastSquaresTest, FindsTheLineThroughPoints) {
  // The points are 2 t + 1 at t = 1, 2, 3.
  const LeastSquares found = NonNegativeLeastSquares(
      std::vector<std::vector<double>>{{1, 2, 3}, {1, 1, 1}}, std::vector<double>{3, 5, 7});
  EXPECT_THAT(found.x, ElementsAre(DoubleNear(2, kExact), DoubleNear(1, kExact)));
  EXPECT_NEAR(found.sum_of_squares, 0, kExact);
}

TEST(LeastSquaresTest, LeavesAtZeroWhatWouldBeNegative) {
  // The line through the points is 2 t - 1. The nearest one through 0 is 22/14 t.
  const LeastSquares found = NonNegativeLeastSquares(
      std::vector<std::vector<double>>{{1, 2, 3}, {1, 1, 1}}, std::vector<double>{1, 3, 5});
  EXPECT_THAT(found.x, ElementsAre(DoubleNear(22.0 / 14, kExact), 0));
  EXPECT_NEAR(found.sum_of_squares, 35 - 22.0 * 22 / 14, kExact);
}

TEST(LeastSquaresTest, AllMayBeZero) {
  const LeastSquares found = NonNegativeLeastSquares(
      std::vector<std::vector<double>>{{1, 1}, {1, 2}}, std::vector<double>{-1, -2});
  EXPECT_THAT(found.x, ElementsAre(0, 0));
  EXPECT_EQ(found.sum_of_squares, 5);
}

TEST(LeastSquaresTest, OmitsLinearlyDependentColumns) {
  const LeastSquares found =
      NonNegativeLeastSquares(std::vector<std::vector<double>>{{1, 2}, {2, 4}, {0, 0}, {1e9, 0}},
                              std::vector<double>{3, 4});
  EXPECT_NEAR(found.sum_of_squares, 0, kExact);
  EXPECT_NEAR(found.x[0] + 2 * found.x[1], 2, kExact);
  EXPECT_EQ(found.x[0] * found.x[1], 0);
  EXPECT_EQ(found.x[2], 0);
  EXPECT_NEAR(found.x[3], 1e-9, 1e-18);
}

}  // namespace
}  // namespace synergy::testing
