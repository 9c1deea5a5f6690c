#include <string>

#include <gtest/gtest.h>

#include "extender/calls.h"

namespace synergy::extender {
namespace {

TEST(RequestIdsTest, GivesEachDecisionAnIdThatItsLaterCallsFind) {
  RequestIds ids;
  EXPECT_EQ(ids.Current("a"), "-");
  EXPECT_EQ(ids.Begin("a"), "1");
  EXPECT_EQ(ids.Begin("b"), "2");
  EXPECT_EQ(ids.Current("a"), "1");
  EXPECT_EQ(ids.Begin("a"), "3");
  EXPECT_EQ(ids.Current("a"), "3");
}

TEST(RequestIdsTest, ForgetsTheOldestPods) {
  RequestIds ids;
  for (int i = 0; i < 5000; ++i) ids.Begin("uid-" + std::to_string(i));
  EXPECT_EQ(ids.Current("uid-0"), "-");
  EXPECT_EQ(ids.Current("uid-4999"), "5000");
}

}  // namespace
}  // namespace synergy::extender
