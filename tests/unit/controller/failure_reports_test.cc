#include "controller/progress/failure_reports.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/pod_failure.h"

namespace synergy::controller {
namespace {

const Instant kAnswered = Instant(std::chrono::hours(1));

TEST(FailureReports, RunsWhoseNamesCannotExistAreDropped) {
  const EndedRun good{std::string(kLongestUid, 'u'), std::string(kLongestLabel, 'c'), 0, {}};
  std::vector<EndedRun> runs(FailureReports::kMostOfNode, good);
  for (EndedRun& run : runs) run.container += 'c';
  runs.push_back(good);
  runs[0].container.clear();
  runs[1] = {good.uid + 'u', good.container, 0, {}};
  runs[2] = {"", good.container, 0, {}};
  runs[3] = {good.uid, good.container, -1, {}};
  FailureReports reports;
  reports.Observe("n1", runs, kAnswered);
  EXPECT_THAT(reports.All(kAnswered).at("n1"), ::testing::ElementsAre(good));
}

TEST(FailureReports, XidsAreThoseOfTheContainerByTheAgentOfItsNode) {
  const PodXid xid{"u", "train", 79, WallTime(std::chrono::hours(9))};
  std::vector<PodXid> xids(FailureReports::kMostOfNode - 1, PodXid{"v", "train", 31, xid.at});
  xids.push_back(xid);
  xids.push_back({"u", "train", 48, xid.at});  // more than an agent reports
  xids.push_back({"", "train", 79, xid.at});
  FailureReports reports;
  reports.Observe("n1", {}, kAnswered, xids);
  EXPECT_THAT(reports.XidsOf("n1", "u", "train"), ::testing::ElementsAre(xid));
  EXPECT_THAT(reports.XidsOf("n1", "u", "sidecar"), ::testing::IsEmpty());
  EXPECT_THAT(reports.XidsOf("n2", "u", "train"), ::testing::IsEmpty());
  reports.Observe("n1", {}, kAnswered);
  EXPECT_THAT(reports.XidsOf("n1", "u", "train"), ::testing::IsEmpty());
}

TEST(FailureReports, ActsOfARunAreBounded) {
  EndedRun run{"u", "train", 0, {}};
  run.acts.assign(1000, {"freeze", WallTime(std::chrono::hours(9))});
  FailureReports reports;
  reports.Observe("n1", {run}, kAnswered);
  EXPECT_EQ(reports.Of("n1", "u", "train", 0)->acts.size(), FailureReports::kMostActs);
}

TEST(FailureReports, NodesThatAreGoneAreForgottenThoughNothingReads) {
  const std::vector<EndedRun> runs = {{"u", "train", 0, {}}};
  FailureReports reports;
  Instant now = kAnswered;
  for (int i = 0; i < 1000; ++i, now += std::chrono::minutes(1))
    reports.Observe("n" + std::to_string(i), runs, now);
  EXPECT_LE(reports.size(), FailureReports::kKept / std::chrono::minutes(1) + 2);
}

TEST(FailureReports, NothingIsKeptIfNothingReadsThem) {
  FailureReports reports(false);
  reports.Observe("n1", {{"u", "train", 0, {}}}, kAnswered);
  EXPECT_EQ(reports.size(), 0);
}

}  // namespace
}  // namespace synergy::controller
