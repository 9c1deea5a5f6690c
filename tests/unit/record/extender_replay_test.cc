#include <optional>
#include <string>
#include <utility>

#include "record/replay.h"
#include "unit/extender/extender_fixture.h"
#include "unit/record/recording.h"

namespace synergy::extender {
namespace {

using record::Replay;
using record::ReplayReport;

// Tests recordings in which a pod is placed by all the verbs, and another one by preempting it.
class ExtenderReplayTest : public ExtenderTest {
 protected:
  ExtenderReplayTest() {
    state.SetJournal(recording.recorder.get());
    binder.SetJournal(recording.recorder.get());
    extender.SetJournal(recording.recorder.get());
    AddNode("a", 2, 12, 100);
    AddNode("b", 4, 24, 200);
    Pod pod = MakePod("p", 1, 2, 10);
    auto fungible = std::make_shared<ManagedContainer>();
    fungible->container = "train";
    fungible->requested = fungible->floor = fungible->fair_share = pod.requests.main;
    fungible->demand = {Gpus(1), Cores(6), GB(40)};
    pod.fungible = std::move(fungible);
    api.Put(std::move(pod));
    state.UpsertPod(api.pod("p"));
    Place(api.pod("p"));
    const std::string victims =
        R"("NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"uid-p"}],"NumPDBViolations":0}})";
    extender.Preempt(fmt::format(R"({{"Pod":{},{}}})", PodJson(MakePod("q", 2, 1, 1)), victims));
  }

  void Place(const Pod& pod) {
    extender.Filter(Args(pod, {"a", "b", "unknown"}));
    extender.Prioritize(Args(pod, {"a", "b"}));
    // In a second call, the pod's own place must not count against the pod.
    extender.Prioritize(Args(pod, {"b", "a"}));
    extender.Bind(BindArgs(pod, "a"));
  }

  static ReplayReport Again(const std::string& text) {
    const auto report = Replay(text);
    EXPECT_TRUE(report) << report.error().message;
    return report.value_or(ReplayReport{});
  }

  record::Recording recording;
};

TEST_F(ExtenderReplayTest, EveryDecisionComesOutAgainAsItDid) {
  const ReplayReport report = Again(recording.Text());
  for (const auto& difference : report.differences) {
    ADD_FAILURE() << difference.recorded << "\n" << difference.replayed;
  }
  EXPECT_EQ(report.counts.at("Filter").same, 1U);
  EXPECT_EQ(report.counts.at("Prioritize").same, 2U);
  EXPECT_EQ(report.counts.at("Bind").same, 1U);
  EXPECT_EQ(report.counts.at("Preempt").same, 1U);
  EXPECT_GE(report.counts.at("Change").same, 5U);
}

TEST_F(ExtenderReplayTest, AvoidedNodesAreRecordedWithTheDecisionsThatTheyChange) {
  Elsewhere elsewhere(state, clock);
  extender.SetElsewhere(&elsewhere);
  std::string args = Args(MakePod("r", 1, 1, 1), {"a", "b"});
  args.insert(args.find(R"("name":)"),
              R"("annotations":{"synergy.io/container":"train","synergy.io/workload":"w-1",)"
              R"("synergy.io/demand":"{\"cpu\":\"1\",\"memory\":\"1G\"}",)"
              R"("synergy.io/floor":"{\"cpu\":\"1\",\"memory\":\"1G\"}"},)");
  args.insert(args.find(R"("nodeName":)"), R"("schedulerName":"synergy-scheduler",)");
  extender.Prioritize(args);
  PublishedAvoidedNodes avoided;
  for (const char* node : {"a", "b"}) {
    avoided.nodes = {};
    avoided.nodes.Add({"default", "w-1", node, clock.WallNow() + std::chrono::hours(1)});
    elsewhere.Upsert(avoided);
    EXPECT_THAT(extender.Prioritize(args),
                ::testing::HasSubstr(fmt::format(R"("Host":"{}","Score":0)", node)));
  }
  const ReplayReport report = Again(recording.Text());
  EXPECT_TRUE(report.differences.empty());
  EXPECT_EQ(report.counts.at("Prioritize").same, 5U);
}

TEST_F(ExtenderReplayTest, GpuReservationsAreRecordedWithTheDecisionsThatTheyChange) {
  ReservedGpus reserved(state, clock);
  extender.SetReserved(&reserved);
  const WallTime now = clock.WallNow();
  reserved.Upsert({.uid = "uid-big",
                   .longest = std::nullopt,
                   .started = std::nullopt,
                   .succeeded = false,
                   .reservation = PublishedReservation{.job = "default/big",
                                                       .priority = 3,
                                                       .places = {{"b", Gpus(4)}},
                                                       .earliest = now + std::chrono::minutes(1),
                                                       .likely = now + std::chrono::minutes(2),
                                                       .latest = now + std::chrono::minutes(3),
                                                       .waits_for = {"default/p"},
                                                       .until = now + std::chrono::minutes(10)}});
  AddNode("c", 4, 24, 200);
  Pod low = MakePod("low", 4, 1, 1, "b");
  low.priority = -1;
  state.UpsertPod(low);
  extender.Filter(Args(MakePod("r", 1, 1, 1), {"a", "b", "c"}));
  EXPECT_EQ(extender.Preempt(fmt::format(
                R"({{"Pod":{},"NodeNameToMetaVictims":{{"b":{{"Pods":[{{"UID":"uid-low"}}]}}}}}})",
                PodJson(MakePod("s", 1, 1, 1)))),
            R"({"NodeNameToMetaVictims":{}})");
  state.RemovePod("uid-low");
  EXPECT_THAT(extender.Filter(Args(MakePod("t", 1, 1, 1), {"a", "b", "c"})),
              ::testing::HasSubstr(R"("NodeNames":["a","c"])"));
  const std::string text = recording.Text();
  EXPECT_NE(text.find(R"("job":"default/big")"), std::string::npos);
  const ReplayReport report = Again(text);
  EXPECT_TRUE(report.same());
  EXPECT_EQ(report.counts.at("Filter").same, 3U);
  EXPECT_EQ(report.counts.at("Preempt").same, 2U);
  EXPECT_FALSE(
      Again(record::Falsified(text, R"("job":"default/big")", R"("node":"b")", R"("node":"c")"))
          .same());
}

TEST_F(ExtenderReplayTest, OneFalseAmountOfADecisionIsFoundOut) {
  const std::string text =
      record::Falsified(recording.Text(), R"({"decision":"Bind")",
                        R"("planned":{"gpus":1,"cpu":6000)", R"("planned":{"gpus":1,"cpu":6001)");
  const ReplayReport report = Again(text);
  EXPECT_EQ(report.counts.at("Bind").different, 1U);
  ASSERT_EQ(report.differences.size(), 1U);
  EXPECT_NE(report.differences[0].recorded.find("6001"), std::string::npos);
  EXPECT_NE(report.differences[0].replayed.find(R"("cpu":6000)"), std::string::npos);
}

TEST_F(ExtenderReplayTest, OneFalseAmountOfTheClusterIsFoundOut) {
  const std::string text = record::Falsified(recording.Text(), R"("node":{"name":"a")",
                                             R"("cpu":12000)", R"("cpu":5000)");
  EXPECT_GT(Again(text).counts.at("Bind").different, 0U);
}

TEST_F(ExtenderReplayTest, ADroppedChangeIsFoundOut) {
  EXPECT_FALSE(Again(record::WithoutLine(recording.Text(), R"("node":{"name":"b")")).same());
}

// Decisions are written after they are made; meanwhile the cluster may have changed.
TEST_F(ExtenderReplayTest, ADecisionThatIsWrittenLateIsMadeOnTheClusterThatItRead) {
  std::string text = recording.Text();
  const size_t begin = text.find(R"({"decision":"Filter")");
  const size_t end = text.find('\n', begin) + 1;
  const std::string filter = text.substr(begin, end - begin);
  text.erase(begin, end - begin);
  EXPECT_TRUE(Again(text + filter).same());
}

}  // namespace
}  // namespace synergy::extender
