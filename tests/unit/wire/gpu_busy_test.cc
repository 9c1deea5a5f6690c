#include "wire/agents/gpu_busy.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using wire::ReadNodeBusy;
using wire::WriteNodeBusy;

TEST(GpuBusyTest, BusyTimesAreReadBackUnchanged) {
  const NodeBusy busy{WallTime(seconds(1700000000)),
                      {{"team", "train-0", "main", 12.25, WallTime(seconds(1699999000))},
                       {"team", "train-1", "main", 0, WallTime(seconds(1699999001))}},
                      seconds(30),
                      {{"team", "train-0", "main", 79, WallTime(seconds(1699999990))}}};
  const auto read = ReadNodeBusy(WriteNodeBusy(busy));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, busy);
}

TEST(GpuBusyTest, SkipsMembersOfNewerPlugins) {
  EXPECT_TRUE(ReadNodeBusy(R"({"at":5,"new":{},"containers":[{"pod":"a","new":[2]}]})"));
}

TEST(GpuBusyTest, ErrorsNameTheProblem) {
  const auto error_of = [](const std::string& text) {
    const auto read = ReadNodeBusy(text);
    return read ? "no error" : read.error().message;
  };
  EXPECT_THAT(error_of(R"({"at":5,"containers":[{"pod":7}]})"), HasSubstr("containers"));
  EXPECT_THAT(error_of(R"({"at":5,"containers":[{"seconds":"x"}]})"), HasSubstr("seconds"));
  EXPECT_THAT(error_of(R"({"at":5,"containers":[{"seconds":-1}]})"), HasSubstr("negative"));
  EXPECT_THAT(error_of(R"({"at":5,"containers":[{"since":-1}]})"), HasSubstr("negative"));
  EXPECT_THAT(error_of(R"({"at":-9223372036854775808})"), HasSubstr("negative"));
  EXPECT_NE(error_of(R"({"at":5,"containers":[{"seconds":1e999}]})"), "no error");
  EXPECT_NE(error_of(R"({"at":5,"containers":[)"), "no error");
  EXPECT_NE(error_of(""), "no error");
  EXPECT_THAT(error_of(std::string(wire::kLongestNodeBusy + 1, ' ')), HasSubstr("longer"));
}

}  // namespace
}  // namespace synergy::testing
