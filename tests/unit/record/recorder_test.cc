#include "record/recorder.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/replay.h"
#include "support/cluster_vocabulary.h"
#include "unit/record/recording.h"

namespace synergy::record {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ClusterChange Added(const std::string& name, uint64_t version) {
  return {cluster_change::UpsertNode{testing::MakeNode(name, {Gpus(8), Cores(24), GiB(64)})},
          version};
}

TEST(RecorderTest, OnlyTheOwnerMayReadTheFile) {
  const Recording recording;
  EXPECT_EQ(std::filesystem::status(recording.File()).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(RecorderTest, EndsBeforeTheFileIsLargerThanItMayBe) {
  const Recording recording(Bytes(400));
  for (uint64_t version = 1; version <= 10; ++version) {
    recording.recorder->Wrote(Added("n" + std::to_string(version), version));
  }
  EXPECT_LE(recording.Text().size(), 400U);
  EXPECT_THAT(recording.Text(), HasSubstr(R"("name":"n1")"));
  EXPECT_THAT(recording.Text(), Not(HasSubstr(R"("name":"n9")")));
}

TEST(RecorderTest, EveryStartOfTheProgramIsARunOfItsOwn) {
  Recording recording;
  recording.recorder->Wrote(Added("n1", 1));
  recording.Open();
  recording.recorder->Wrote(Added("n1", 1));
  const auto report = Replay(recording.Text());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->runs, 2U);
  EXPECT_EQ(report->counts.at("Change").same, 2U);
  EXPECT_TRUE(report->same());
}

TEST(RecorderTest, ALineThatAKilledProgramDidNotFinishIsLeftOut) {
  Recording recording;
  recording.recorder->Wrote(Added("n1", 1));
  recording.recorder->Wrote(Added("n2", 2));
  recording.recorder.reset();
  std::filesystem::resize_file(recording.File(), recording.Text().size() - 20);
  recording.Open();
  recording.recorder->Wrote(Added("n1", 1));
  const auto report = Replay(recording.Text());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->counts.at("Change").same, 2U);
}

TEST(RecorderTest, RefusesToReplayOtherFiles) {
  EXPECT_EQ(Replay("").error().message, "the file contains no recording");
  EXPECT_EQ(Replay("hello").error().message, "line 1: not the beginning of a recording");
  EXPECT_THAT(Replay("{\"recording\":\"x\"}\n{\"call\":\"Reboot\"}\n{\"call\":\"KeepNews\"}\n")
                  .error()
                  .message,
              HasSubstr("line 2: call"));
}

}  // namespace
}  // namespace synergy::record
