#include "core/result.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Fail(ErrorCode::kInvalid, "an odd number has no half");
  return number / 2;
}

TEST(ResultTest, HoldsAValueOrTheReasonWhyThereIsNone) {
  EXPECT_EQ(Half(4).value(), 2);
  const Result<int> odd = Half(3);
  ASSERT_FALSE(odd.has_value());
  EXPECT_EQ(odd.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(odd.error().message, "an odd number has no half");
}

TEST(ResultTest, AnErrorIsPassedOnUnchanged) {
  const auto outer = []() -> Result<std::string> {
    const Result<int> inner = Half(5);
    if (!inner) return Fail(inner.error());
    return std::to_string(*inner);
  };
  EXPECT_EQ(outer().error().message, "an odd number has no half");
}

TEST(ResultTest, EveryErrorCodeHasAWordOfItsOwn) {
  const std::set<std::string_view> words = {
      ToString(ErrorCode::kInvalid),  ToString(ErrorCode::kNotFound),
      ToString(ErrorCode::kConflict), ToString(ErrorCode::kGone),
      ToString(ErrorCode::kDenied),   ToString(ErrorCode::kUnavailable),
      ToString(ErrorCode::kTimeout),  ToString(ErrorCode::kCancelled)};
  EXPECT_EQ(words.size(), 8U);
  EXPECT_FALSE(words.contains("unknown"));
}

}  // namespace
}  // namespace synergy::testing
