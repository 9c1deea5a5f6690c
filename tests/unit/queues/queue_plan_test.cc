#include "queues/planner/queue_plan.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using Kind = WorkloadWrite::Kind;
using ::testing::ElementsAre;

class FakeWriter final : public WorkloadWriter {
 public:
  bool IsUnseen(const WorkloadWrite& /*write*/) override { return false; }
  bool MayWrite() override { return refusals == 0 || --refusals < 0; }
  WriteOutcome Write(const WorkloadWrite& write) override {
    written.push_back(write.workload->name);
    const auto found = outcomes.find(write.queue);
    return found == outcomes.end() ? WriteOutcome::kWritten : found->second;
  }

  std::map<std::string, WriteOutcome> outcomes;  // by queue
  int refusals = 0;                              // how often MayWrite() says no
  std::vector<std::string> written;
};

class QueuePlanTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, Kind kind, const std::string& queue) {
    Workload workload;
    workload.name = name;
    plan.writes.push_back(
        {kind, std::make_shared<const Workload>(std::move(workload)), 0, {}, "", queue, {}});
  }
  std::vector<std::string> Write() {
    outcomes = WriteInOrder(plan, writer);
    return writer.written;
  }

  QueuePlan plan;
  FakeWriter writer;
  std::vector<WriteOutcome> outcomes;
};

TEST_F(QueuePlanTest, FailuresOfAQueueDoNotKeepTheOthersWaiting) {
  for (const char* name : {"a", "b", "c", "d"}) Add(name, Kind::kSort, "broken");
  Add("e", Kind::kSort, "sound");
  writer.outcomes["broken"] = WriteOutcome::kFailed;
  EXPECT_THAT(Write(), ElementsAre("a", "b", "c", "e"));
  EXPECT_THAT(PendingQueues(plan, outcomes), ElementsAre("broken"));
}

TEST_F(QueuePlanTest, RefusedWritesAreOver) {
  for (const char* name : {"a", "b", "c", "d"}) Add(name, Kind::kSort, "q");
  writer.outcomes["q"] = WriteOutcome::kRefused;
  EXPECT_THAT(Write(), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(PendingQueues(plan, outcomes), ElementsAre());
}

TEST_F(QueuePlanTest, NoneIsRaisedBeforeOneThatHasToBeLoweredFirst) {
  Add("loses", Kind::kLower, "late");
  Add("gains", Kind::kRaise, "late");
  Add("other", Kind::kRaise, "sound");
  writer.refusals = 1;
  EXPECT_THAT(Write(), ElementsAre("other"));
  EXPECT_THAT(PendingQueues(plan, outcomes), ElementsAre("late"));
}

TEST_F(QueuePlanTest, NotesKeepNoQueuePending) {
  Add("a", Kind::kNote, "q");
  writer.outcomes["q"] = WriteOutcome::kFailed;
  Write();
  EXPECT_THAT(PendingQueues(plan, outcomes), ElementsAre());
}

}  // namespace
}  // namespace synergy
