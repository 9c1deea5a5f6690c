#include "cluster/state/cluster_journal.h"

#include <variant>

#include "support/recorded_changes.h"
#include "unit/cluster/cluster_fixture.h"

namespace synergy::testing {
namespace {

namespace change = cluster_change;

class ClusterJournalTest : public ClusterStateFixture {
 protected:
  ClusterJournalTest() { state.SetJournal(&journal); }

  const ClusterChange& Last() const { return journal.all.back(); }

  RecordedChanges journal;
};

TEST_F(ClusterJournalTest, RecordsACallWithTheVersionAfterIt) {
  HaveNode("n1");
  ASSERT_EQ(journal.all.size(), 1U);
  ASSERT_TRUE(std::holds_alternative<change::UpsertNode>(Last().call));
  EXPECT_EQ(std::get<change::UpsertNode>(Last().call).node.name, "n1");
  EXPECT_EQ(Last().version, 1U);
  EXPECT_EQ(Last().version, state.version());
}

TEST_F(ClusterJournalTest, RecordsACallWithoutEffectWithTheSameVersion) {
  HaveNode("n1");
  state.RemovePod("nobody");
  ASSERT_TRUE(std::holds_alternative<change::RemovePod>(Last().call));
  EXPECT_EQ(Last().version, 1U);
}

TEST_F(ClusterJournalTest, RecordsTheOutcomeOfAnAssume) {
  HaveNode("n1");
  ASSERT_TRUE(Assume(MakeGpuPod("p", 8), "n1"));
  EXPECT_TRUE(std::get<change::Assume>(Last().call).outcome.assumed);
  ASSERT_FALSE(Assume(MakeGpuPod("q", 1), "n1"));
  EXPECT_TRUE(std::get<change::Assume>(Last().call).outcome.failures.Has(FitFailures::kGpus));
  state.UpsertPod(OnNode(MakeGpuPod("p", 8), "n1"));
  ASSERT_FALSE(Assume(MakeGpuPod("p", 8), "n1"));
  EXPECT_EQ(std::get<change::Assume>(Last().call).outcome.bound_to, "n1");
}

TEST_F(ClusterJournalTest, RecordsNoQueries) {
  HaveNode("n1");
  state.Snapshot();
  state.FindPlacement("p");
  state.Expired(At(1));
  state.TakeNews();
  EXPECT_EQ(journal.all.size(), 1U);
}

TEST_F(ClusterJournalTest, AppliedToAStateThatIsAnotherOneIsAConflict) {
  HaveNode("n1");
  Assume(MakeGpuPod("p", 8), "n1");
  ClusterState other;
  ASSERT_TRUE(other.Apply(journal.all[0]));
  other.UpsertPod(OnNode(MakeGpuPod("q", 1), "n1"));
  const Result<> outcome = other.Apply(journal.all[1]);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kConflict);
  EXPECT_EQ(outcome.error().message, "version 2: a pod is assumed with another outcome");
  const Result<> version = other.Apply({change::Forget{"p"}, 3});
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().message, "version 2 instead of 3");
}

TEST_F(ClusterJournalTest, APlaceThatIsNotThereIsNowhereToExpectAPod) {
  EXPECT_TRUE(state.Apply({change::Expect{MakeGpuPod("p", 1), 1000, At(1)}, 0}));
  EXPECT_FALSE(HasPod("p"));
}

}  // namespace
}  // namespace synergy::testing
