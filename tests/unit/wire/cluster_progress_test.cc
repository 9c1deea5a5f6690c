#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/agents/progress.h"

namespace synergy::testing {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using wire::ReadClusterProgress;
using wire::WriteClusterProgress;

TEST(ClusterProgressTest, ProgressIsReadBackUnchanged) {
  KnownProgress known;
  known.pod = {.uid = "1", .pod_namespace = "team", .name = "train", .total = 10, .rate = 1.5};
  known.node = "n1";
  known.since = WallTime(seconds(5));
  known.at = WallTime(seconds(9));
  known.age = seconds(3);
  const ClusterProgress progress{{known, {.pod = {.uid = "2"}}}};
  const auto read = ReadClusterProgress(WriteClusterProgress(progress));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, progress);
}

TEST(ClusterProgressTest, MembersOfAPodAreThoseOfItsAgentAndMore) {
  const ClusterProgress progress{
      {{.pod = {.uid = "1", .name = "train", .rate = 2}, .node = "n1", .age = seconds(1)}}};
  EXPECT_EQ(WriteClusterProgress(progress),
            R"({"pods":[{"uid":"1","name":"train","rate":2,"node":"n1","age":1000000000}]})");
}

TEST(ClusterProgressTest, InvalidTextIsAnError) {
  EXPECT_FALSE(ReadClusterProgress("no JSON"));
  const auto read = ReadClusterProgress(R"({"pods":[{"rate":"fast"}]})");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("rate"));
}

}  // namespace
}  // namespace synergy::testing
