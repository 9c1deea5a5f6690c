#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/agents/progress.h"

namespace synergy::testing {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using wire::ReadNodeProgress;
using wire::WriteNodeProgress;

NodeProgress SampleProgress() {
  PodProgress progress;
  progress.uid = "1-2";
  progress.pod_namespace = "team";
  progress.name = "train-0";
  progress.container = "train";
  progress.format = "tqdm";
  progress.iteration = 120;
  progress.total = 1000;
  progress.epoch = 0;
  progress.loss = 0.25;
  progress.rate = 12.5;
  progress.overall_rate = 11;
  progress.iterations = 119.5;
  progress.last = WallTime(seconds(1700000000));
  progress.remaining = seconds(70);
  progress.cpu = CpuUse{seconds(30), seconds(1), seconds(0)};
  progress.memory =
      MemoryUse{GiB(8), GiB(1), 3e12, 0.5, seconds(3), true, WallTime(seconds(1700000000))};
  progress.checkpoint = WallTime(seconds(1699999990));
  progress.storage =
      StorageUse{"vdb", 1.2e7, 0.0, 2e7, std::nullopt, WallTime(seconds(1700000000)), 1.3e7};
  PodProgress silent;
  silent.uid = "3-4";
  silent.name = "train-1";
  silent.estimate = BusyEstimate{12.5, 0.83, WallTime(seconds(1700000000))};
  EndedRun ended{"5-6", "train", 2, {}};
  ended.acts = {{"freeze", WallTime(std::chrono::hours(9))}};
  ended.log = {.rule = "cuda-out-of-memory",
               .evidence = "CUDA out of memory",
               .time = WallTime(seconds(1700000000)),
               .finished = true,
               .iterations = 7,
               .since_iteration = seconds(3),
               .checkpoint = WallTime(seconds(1699999991)),
               .first_iteration = WallTime(seconds(1699999905))};
  return {"n1",
          WallTime(seconds(1699999000)),
          WallTime(seconds(1700000001)),
          {progress, silent},
          {ended},
          {{"5-6", "train", 79, WallTime(seconds(1699999999))}}};
}

TEST(NodeProgressTest, ProgressIsReadBackUnchanged) {
  const auto read = ReadNodeProgress(WriteNodeProgress(SampleProgress()));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, SampleProgress());
}

TEST(NodeProgressTest, NoPodsAreAnAnswer) {
  const auto read = ReadNodeProgress(WriteNodeProgress({"n1", {}, {}, {}, {}}));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(read->pods.empty());
}

TEST(NodeProgressTest, SkipsMembersOfNewerAgents) {
  EXPECT_TRUE(ReadNodeProgress(R"({"node":"n1","new":{},"pods":[{"uid":"1","new":2}]})"));
}

TEST(NodeProgressTest, ErrorsNameTheField) {
  const auto error_of = [](const std::string& text) {
    const auto read = ReadNodeProgress(text);
    return read ? "no error" : read.error().message;
  };
  EXPECT_THAT(error_of(R"({"pods":[{"rate":"fast"}]})"), HasSubstr("pods[0].rate"));
  EXPECT_THAT(error_of(R"({"pods":[{"iteration":1.5}]})"), HasSubstr("pods[0].iteration"));
  EXPECT_THAT(error_of("[]"), HasSubstr("object"));
  EXPECT_THAT(error_of(R"({"node":")" + std::string(size_t{2} << 20, 'x') + "\"}"),
              HasSubstr("longer than"));
}

}  // namespace
}  // namespace synergy::testing
