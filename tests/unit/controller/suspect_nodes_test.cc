#include "controller/progress/failures/suspect_nodes.h"

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "failure/rules.h"
#include "support/managed_pods.h"
#include "support/recorded_events.h"

namespace synergy::controller {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const WallTime kSuspectedAt = WallTime(hours(500000));

class SuspectNodesTest : public ::testing::Test {
 protected:
  SuspectNodesTest() { state.UpsertNode(testing::NodeOfFour("n1")); }

  // A job of that namespace fails on the node now.
  FailureRecord& Fail(const std::string& team, Category category, const std::string& rule,
                      const std::string& node = "n1") {
    FailureRecord record;
    record.at = now;
    record.node = node;
    record.category = ToString(category);
    record.cause = ToString(EntryOf(category).outcome.cause);
    record.rule = rule;
    histories[team].of_namespace = team;
    histories[team].records.push_back(record);
    return histories[team].records.back();
  }
  void LoseGpu(const std::string& team) { Fail(team, Category::kGpuLost, "xid-79"); }
  void ClaimLostGpu(const std::string& team) { Fail(team, Category::kGpuLost, "off-the-bus"); }
  void GiveUp(const std::string& team, const std::string& reason, const std::string& evidence) {
    FailureRecord& record = Fail(team, Category::kEvicted, "evicted");
    record.reason = reason;
    record.evidence = evidence;
  }
  size_t Suspects() const { return FindSuspectNodes(histories, now).size(); }
  void Look() { suspects.Look(histories, *state.Snapshot(), now); }
  void ExpectGauge(int nodes) {
    EXPECT_THAT(metrics.Render(),
                HasSubstr(fmt::format("\nsynergy_controller_suspect_nodes {}\n", nodes)));
  }

  WallTime now = kSuspectedAt;
  std::map<std::string, FailureHistory> histories;
  ClusterState state;
  testing::RecordedEvents events;
  metrics::ControllerMetrics metrics;
  SuspectNodes suspects{events, metrics};
};

TEST_F(SuspectNodesTest, FaultsInTwoNamespacesAreAnEventOnTheNodeAndAGauge) {
  LoseGpu("a");
  LoseGpu("a");
  Look();
  EXPECT_THAT(events.all, IsEmpty()) << "one namespace";
  ExpectGauge(0);
  LoseGpu("b");
  Look();
  ASSERT_THAT(events.reasons(), ElementsAre("SynergyNodeSuspect n1"));
  EXPECT_EQ(events.all[0].kind, "Node");
  EXPECT_EQ(events.all[0].type, "Warning");
  EXPECT_THAT(events.all[0].message,
              AllOf(HasSubstr("2 namespaces"), HasSubstr("gpu-lost (a GPU stopped working)"),
                    Not(HasSubstr("only their logs"))));
  ExpectGauge(1);
  // The same again is no news; another category is.
  LoseGpu("c");
  Look();
  EXPECT_THAT(events.all, SizeIs(1));
  Fail("c", Category::kNvlink, "xid-74");
  Look();
  ASSERT_THAT(events.all, SizeIs(2));
  EXPECT_THAT(events.all[1].message, AllOf(HasSubstr("3 namespaces"), HasSubstr("nvlink")));
  now += kSuspectFor;
  Look();
  ExpectGauge(0);
  for (const char* const team : {"a", "b"}) LoseGpu(team);
  Look();
  EXPECT_THAT(events.all, SizeIs(3));
  suspects.StartOver();
  ExpectGauge(0);
}

TEST_F(SuspectNodesTest, FaultsFarApartInTimeOrOnDifferentNodesDoNotCount) {
  LoseGpu("a");
  now += minutes(61);
  LoseGpu("b");
  Fail("c", Category::kGpuLost, "xid-79", "n2");
  Fail("d", Category::kGpuLost, "xid-79", "");
  EXPECT_EQ(Suspects(), 0);
}

TEST_F(SuspectNodesTest, ClaimsCountOnlyIfTwoNamespacesMakeThem) {
  ClaimLostGpu("a");
  LoseGpu("b");
  EXPECT_EQ(Suspects(), 0) << "a tenant alone could bring any node under suspicion";
  histories.clear();
  ClaimLostGpu("a");
  ClaimLostGpu("b");
  Look();
  ASSERT_THAT(events.all, SizeIs(1));
  EXPECT_THAT(events.all[0].message, HasSubstr("the only evidence is logs"));
}

TEST_F(SuspectNodesTest, LinesOfLogsAreNotInTheEvent) {
  for (const char* const team : {"secret-team", "b"})
    Fail(team, Category::kGpuLost, "off-the-bus").evidence = "GPU has fallen off the bus: secret";
  Look();
  ASSERT_THAT(events.all, SizeIs(1));
  EXPECT_THAT(events.all[0].message, Not(HasSubstr("secret")));
}

TEST_F(SuspectNodesTest, OnlyFaultsOfANodeCount) {
  for (const char* const team : {"a", "b"}) {
    Fail(team, Category::kImport, "module-not-found");
    Fail(team, Category::kPreempted, "preempted");
    Fail(team, Category::kPeerLost, "peer-lost");
    Fail(team, Category::kNetwork, "connection");
    Fail(team, Category::kPort, "port-in-use");
    Fail(team, Category::kEvicted, "node-failure");  // a log's words
    Fail(team, Category::kGpuLost, "xid-79").cause = ToString(Cause::kSynergy);
    GiveUp(team, "Evicted", "The node was low on resource: memory.");
    GiveUp(team, "", "DisruptionTarget/EvictionByEvictionAPI: evicting");
    GiveUp(team, "Terminated", "Pod was terminated in response to imminent node shutdown.");
    GiveUp(team, "OutOfcpu", "Pod was rejected");
  }
  EXPECT_EQ(Suspects(), 0);
  GiveUp("a", "NodeLost", "Node n1 is gone");
  GiveUp("b", "", "DisruptionTarget/DeletionByTaintManager: deleting due to NoExecute taint");
  EXPECT_EQ(Suspects(), 1);
}

TEST_F(SuspectNodesTest, ANodeThatIsGoneIsLeftAlone) {
  for (const char* const team : {"a", "b"}) Fail(team, Category::kGpuLost, "xid-79", "gone");
  Look();
  EXPECT_EQ(Suspects(), 1);
  EXPECT_THAT(events.all, IsEmpty());
  ExpectGauge(0);
}

TEST_F(SuspectNodesTest, ARefusalByTheKubeletIsAClaim) {
  GiveUp("liar", "UnexpectedAdmissionError", "Allocate failed");
  GiveUp("honest", "NodeLost", "Node n1 is gone");
  EXPECT_EQ(Suspects(), 0);
  GiveUp("b", "UnexpectedAdmissionError", "Allocate failed");
  EXPECT_EQ(Suspects(), 1);
}

// A namespace whose logs say anything.
TEST_F(SuspectNodesTest, NoNamespaceAloneBringsANodeUnderSuspicion) {
  constexpr uint64_t kSeed = 39;
  Random random(kSeed);
  const auto logs = LogRules();
  for (int round = 0; round < 300; ++round) {
    histories.clear();
    for (int i = 0; i < 20; ++i) {
      const LogRule& rule = logs[random.Below(logs.size())];
      Fail("liar", rule.category, std::string(rule.name)).cause = "infrastructure";
    }
    EXPECT_EQ(Suspects(), 0) << round;
    // Nor together with one that has a fault of its own.
    LoseGpu("honest");
    EXPECT_EQ(Suspects(), 0) << round;
    LoseGpu("other");
    EXPECT_EQ(Suspects(), 1) << round;
  }
}

}  // namespace
}  // namespace synergy::controller
