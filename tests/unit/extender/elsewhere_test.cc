#include "extender/nodes/elsewhere.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

using std::chrono::hours;
using ::testing::HasSubstr;

// Pods of the workload bert would go to "tight", and avoid it for an hour.
class ElsewhereTest : public ExtenderTest {
 protected:
  ElsewhereTest() {
    for (const char* name : {"empty", "tight", "tighter"}) AddNode(name);
    state.UpsertPod(MakePod("x", 4, 12, 250, "tight"));
    state.UpsertPod(MakePod("y", 6, 18, 375, "tighter"));
    extender.SetElsewhere(&elsewhere);
    Publish({"tighter"});
  }

  void Publish(const std::vector<std::string>& nodes) {
    PublishedAvoidedNodes published;
    for (const std::string& node : nodes)
      published.nodes.Add({"default", "bert", node, clock.WallNow() + hours(1)});
    elsewhere.Upsert(std::move(published));
  }
  static std::string OfWorkload(std::string args, const std::string& workload) {
    args.insert(args.find(R"("name":)"),
                fmt::format(R"("annotations":{{"synergy.io/container":"train",)"
                            R"("synergy.io/demand":"{{\"cpu\":\"3\",\"memory\":\"60G\"}}",)"
                            R"("synergy.io/floor":"{{\"cpu\":\"3\",\"memory\":\"60G\"}}",)"
                            R"("synergy.io/workload":"{}"}},)",
                            workload));
    args.insert(args.find(R"("nodeName":)"), R"("schedulerName":"synergy-scheduler",)");
    return args;
  }
  // Returns the points of the nodes, in the order of their names.
  std::string Points(const std::string& workload = "bert", int64_t gpus = 1) {
    const std::string args = Args(MakePod("p", gpus, 3, 60), {"empty", "tight", "tighter"});
    const std::string answer = extender.Prioritize(OfWorkload(args, workload));
    std::string points;
    for (size_t at = answer.find("Score"); at != std::string::npos;
         at = answer.find("Score", at + 1))
      points += answer.substr(at + 7, answer.find('}', at) - at - 7) + " ";
    return points;
  }

  Elsewhere elsewhere{state, clock};
};

TEST_F(ElsewhereTest, AnAvoidedNodeIsTheLastChoice) {
  EXPECT_EQ(Points("other"), "5 8 10 ");
  EXPECT_EQ(Points(), "5 10 0 ");
  EXPECT_EQ(FreeGpus("tight"), Gpus(3)) << "expected there";
}

TEST_F(ElsewhereTest, IfNoOtherNodeHasRoomAnAvoidedOneIsGivenAsIfItWereNot) {
  Publish({"empty", "tight", "tighter"});
  EXPECT_EQ(Points(), Points("other"));
  Publish({"empty"});
  EXPECT_EQ(Points("bert", 8), "10 0 0 ");
}

TEST_F(ElsewhereTest, NoNodeIsRefused) {
  Publish({"empty", "tight", "tighter"});
  EXPECT_THAT(
      extender.Filter(OfWorkload(Args(MakePod("p", 1, 3, 60), {"empty", "tighter"}), "bert")),
      HasSubstr(R"("NodeNames":["empty","tighter"],"FailedNodes":{})"));
}

TEST_F(ElsewhereTest, ThePreferenceLapsesAndEndsWithTheConfigMap) {
  clock.Advance(hours(1));
  EXPECT_EQ(Points(), Points("other"));
  Publish({"tighter"});
  EXPECT_EQ(Points(), "5 10 0 ");
  elsewhere.Remove({});
  EXPECT_EQ(Points(), Points("other"));
  elsewhere.Replace({});
  EXPECT_EQ(Points(), Points("other"));
}

class GangsElsewhereTest : public ElsewhereTest {
 protected:
  GangsElsewhereTest() {
    state.RemovePod("uid-x");
    state.RemovePod("uid-y");
  }

  // Creates a gang of two; the first member is of the workload.
  std::vector<Pod> Create(int64_t gpus, const std::string& gang = "g", int32_t priority = 0) {
    std::vector<Pod> members;
    for (const char* workload : {"bert", "other"}) {
      Pod pod = MakePod(fmt::format("{}-{}", gang, workload), gpus, gpus, gpus);
      pod.priority = priority;
      pod.gang = std::make_shared<const Gang>(Gang{"default/" + gang, 2, {}});
      auto fungible = std::make_shared<ManagedContainer>();
      fungible->workload = workload;
      pod.fungible = std::move(fungible);
      state.UpsertPod(pod);
      members.push_back(std::move(pod));
    }
    return members;
  }
  std::string Filter(const Pod& pod) {
    std::string args = Args(pod, {"empty", "tight", "tighter"});
    args.insert(args.find(R"("name":)"),
                fmt::format(R"("labels":{{"synergy.io/gang":"{}","synergy.io/gang-size":"{}"}},)",
                            pod.gang->name.substr(8), pod.gang->size));
    return extender.Filter(args);
  }
  static std::string Passes(const std::string& node) {
    return fmt::format(R"("NodeNames":["{}"])", node);
  }
};

TEST_F(GangsElsewhereTest, AGangAvoidsTheNodesOfAnyMember) {
  Publish({"empty", "tight"});
  const auto members = Create(4);
  EXPECT_THAT(Filter(members[1]), HasSubstr(Passes("tighter")));
  EXPECT_THAT(Filter(members[0]), HasSubstr(Passes("tighter")));
}

TEST_F(GangsElsewhereTest, AGangThatDoesNotFitElsewhereIsPlacedAsIfNothingWereAvoided) {
  Publish({"empty", "tight"});
  const auto members = Create(8);
  EXPECT_THAT(Filter(members[0]), HasSubstr(Passes("empty")));
  EXPECT_THAT(Filter(members[1]), HasSubstr(Passes("tight")));
}

TEST_F(GangsElsewhereTest, NoOtherGangGivesUpItsPlacesForThePreference) {
  Publish({"tight"});
  ASSERT_THAT(Filter(Create(4, "held")[1]), HasSubstr(Passes("empty")));
  state.UpsertPod(MakePod("z", 8, 8, 8, "tighter"));
  EXPECT_THAT(Filter(Create(4, "g", 10)[0]), HasSubstr(Passes("tight")));
  EXPECT_EQ(FreeGpus("empty"), Gpus(0)) << "still held";
}

TEST_F(GangsElsewhereTest, AGangThatWouldWaitForALocalPlaceElsewhereDoesNot) {
  const GangTimes times;
  SchedulerExtender waiting{
      state, binder, reader, {.gangs = times, .locality = {.node_wait = std::chrono::seconds(30)}},
      clock, log,    metrics};
  waiting.SetElsewhere(&elsewhere);
  // Two nodes have room for one member each, and the avoided one for both.
  state.UpsertPod(MakePod("x", 4, 4, 4, "empty"));
  state.UpsertPod(MakePod("y", 4, 4, 4, "tight"));
  const auto members = Create(4);
  std::string args = Args(members[0], {"empty", "tight", "tighter"});
  args.insert(args.find(R"("name":)"),
              R"("labels":{"synergy.io/gang":"g","synergy.io/gang-size":"2"},)");
  EXPECT_THAT(waiting.Filter(args), HasSubstr(Passes("tighter")));
}

}  // namespace
}  // namespace synergy::extender
