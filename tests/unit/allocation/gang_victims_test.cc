#include "allocation/gangs/gang_victims.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/allocation/allocation_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class GangVictimsTest : public AllocationFixture {
 protected:
  Pod OfGang(Pod pod, const std::string& name, int32_t size) {
    pod.gang = std::make_shared<const Gang>(
        Gang{.name = "team/" + name, .size = size, .problem = {}, .spread = {}});
    return pod;
  }
  void Running(const std::string& name, const std::string& node, int64_t gpus, int32_t priority = 0,
               const std::string& gang = {}, int32_t size = 0) {
    Pod pod = OnNode(WithPriority(MakeGpuPod(name, gpus), priority), node);
    pod = Labelled(std::move(pod), "name", name);
    if (!gang.empty()) pod = OfGang(std::move(pod), gang, size);
    state.UpsertPod(std::move(pod));
  }
  void Change(const std::string& name, const std::function<void(Pod&)>& change) {
    Pod pod = *state.FindPod(name);
    change(pod);
    state.UpsertPod(std::move(pod));
  }
  void Budget(const std::string& name, int64_t allowed) {
    DisruptionBudget budget{.uid = "budget of " + name, .pod_namespace = "team", .name = name};
    budget.selector.requirements.push_back({"name", LabelSelector::Operator::kIn, {name}});
    budget.disruptions_allowed = allowed;
    state.UpsertDisruptionBudget(budget);
  }

  // Gives the running pod a host port, as pods with hostNetwork have.
  void UsePort(const std::string& name) {
    Change(name, [](Pod& pod) { pod.separation = std::make_shared<const Separation>(OfPort()); });
  }
  static Separation OfPort() { return {{{"0.0.0.0", "TCP", 29500}}, {}, {}}; }

  // Returns the victims for a gang of priority 10 with this many members, of one GPU each.
  std::vector<std::string> VictimsFor(size_t count, int64_t gpus = 1) {
    std::vector<std::shared_ptr<const Pod>> members;
    for (size_t i = 0; i < count; ++i) {
      Pod member = OfGang(WithPriority(MakeGpuPod("m" + std::to_string(i), gpus), 10), "important",
                          static_cast<int32_t>(count));
      if (uses_port) member.separation = std::make_shared<const Separation>(OfPort());
      members.push_back(std::make_shared<const Pod>(std::move(member)));
    }
    snapshot = state.Snapshot();
    victims = SelectGangVictims(
        *snapshot, members, {}, [](size_t, NodeIndex) { return true; },
        [this](const Pod& pod) { return pod.name != spared; }, WallTime{});
    if (!victims) return {"nobody helps"};
    std::vector<std::string> names;
    for (const auto& victim : victims->pods) names.push_back(victim->name);
    return names;
  }

  std::optional<GangVictims> victims;
  std::string spared;
  bool uses_port = false;  // whether the members do
};

TEST_F(GangVictimsTest, EvictsNoPodIfTheGangFits) {
  HaveNode("a");
  Running("low", "a", 4);
  EXPECT_THAT(VictimsFor(4), IsEmpty());
  EXPECT_THAT(victims->places, SizeIs(4));
}

TEST_F(GangVictimsTest, EvictsPodsFromWhichMembersMustStayApart) {
  HaveNode("a");
  HaveNode("b");
  uses_port = true;
  for (const char* const name : {"a", "b"}) {
    Running(std::string("low-") + name, name, 1, 0, "low", 2);
    UsePort(std::string("low-") + name);
  }
  // There are enough GPUs, but not enough ports.
  EXPECT_THAT(VictimsFor(2), UnorderedElementsAre("low-a", "low-b"));
  Change("low-a", [](Pod& pod) { pod.deleting = true; });
  Change("low-b", [](Pod& pod) { pod.deleting = true; });
  EXPECT_THAT(VictimsFor(2), IsEmpty());
}

TEST_F(GangVictimsTest, EvictsNoPodInVainBesideOneThatStaysAndKeepsMembersAway) {
  HaveNode("a");
  uses_port = true;
  Running("high", "a", 1, 20);
  UsePort("high");
  Running("low", "a", 7);
  EXPECT_THAT(VictimsFor(1), ElementsAre("nobody helps"));
}

TEST_F(GangVictimsTest, EvictsNoPodIfAllVictimsAreNotEnough) {
  HaveNode("a");
  Running("low", "a", 4);
  Running("high", "a", 4, 10);
  EXPECT_THAT(VictimsFor(5), ElementsAre("nobody helps")) << "equal priority stays";
  EXPECT_THAT(VictimsFor(4), ElementsAre("low"));
}

TEST_F(GangVictimsTest, SparesPodsWithTheHighestPriorityFirst) {
  HaveNode("a");
  Running("five", "a", 2, 5);
  Running("one", "a", 2, 1);
  Running("three", "a", 2, 3);
  Running("two", "a", 2, 2);
  EXPECT_THAT(VictimsFor(4), UnorderedElementsAre("one", "two"));
}

TEST_F(GangVictimsTest, AGangGoesWholeFromAllItsNodes) {
  for (const char* node : {"a", "b"}) {
    HaveNode(node);
    Running("high on " + std::string(node), node, 4, 10);
    Running("member on " + std::string(node), node, 4, 0, "victim", 2);
  }
  EXPECT_THAT(VictimsFor(4), UnorderedElementsAre("member on a", "member on b"));
}

TEST_F(GangVictimsTest, AGangOfWhichOneMayNotGoStays) {
  HaveNode("a");
  Running("first", "a", 4, 0, "victim", 2);
  Running("second", "a", 4, 10, "victim", 2);
  EXPECT_THAT(VictimsFor(4), ElementsAre("nobody helps"));
  Change("second", [](Pod& pod) { pod.priority = 0; });
  spared = "second";
  EXPECT_THAT(VictimsFor(4), ElementsAre("nobody helps"));
  spared.clear();
  EXPECT_THAT(VictimsFor(4), UnorderedElementsAre("first", "second"));
}

TEST_F(GangVictimsTest, SparesRunningMembersOfTheSameGang) {
  HaveNode("a");
  Running("own", "a", 4, 0, "important", 5);
  Running("low", "a", 4, 1);
  EXPECT_THAT(VictimsFor(4), ElementsAre("low"));
  EXPECT_THAT(VictimsFor(5), ElementsAre("nobody helps"));
}

TEST_F(GangVictimsTest, AmongEqualsBrokenGangsGoFirstThenThoseWithTheFewestGpus) {
  for (const char* node : {"a", "b", "c"}) HaveNode(node);
  Running("whole", "a", 8, 0, "whole", 1);
  Running("broken", "b", 8, 0, "broken", 2);
  Running("one", "c", 4);
  Running("two", "c", 4);
  EXPECT_THAT(VictimsFor(8), ElementsAre("broken"));
  Change("broken", [](Pod& pod) { pod.priority = 10; });
  EXPECT_THAT(VictimsFor(4), ElementsAre("one"));
}

TEST_F(GangVictimsTest, EvictsNoPodAgainstADisruptionBudget) {
  HaveNode("a");
  Running("first", "a", 4);
  Running("second", "a", 4, 1);
  Budget("first", 0);
  EXPECT_THAT(VictimsFor(4), ElementsAre("second")) << "though its priority is higher";
  Budget("second", 0);
  EXPECT_THAT(VictimsFor(4), ElementsAre("nobody helps"));
  Budget("first", 1);
  EXPECT_THAT(VictimsFor(4), ElementsAre("first"));
}

TEST_F(GangVictimsTest, UsesPlacesOfTerminatingPodsWithoutEviction) {
  HaveNode("a");
  Running("leaving", "a", 4);
  Running("staying", "a", 4);
  Change("leaving", [](Pod& pod) { pod.deleting = true; });
  EXPECT_THAT(VictimsFor(4), IsEmpty());
  EXPECT_THAT(VictimsFor(8), ElementsAre("staying"));
}

TEST_F(GangVictimsTest, EvictsNoPodForCpuThatCanBeReclaimed) {
  HaveNode("a");
  Running("low", "a", 2);
  Pod wide = OnNode(WithPriority(MakePod("wide", {Gpus(2), Cores(20), GiB(2)}), 10), "a");
  ManagedContainer fungible;
  fungible.container = "train";
  fungible.requested = fungible.in_force = fungible.set_aside = wide.requests.main;
  fungible.floor = {Gpus(2), Cores(2), GiB(2)};
  fungible.reported = true;
  fungible.devices = DeviceReading{DeviceSafety::kSafe, {}};
  wide.fungible = std::make_shared<const ManagedContainer>(fungible);
  state.UpsertPod(wide);
  EXPECT_THAT(VictimsFor(4), IsEmpty()) << "18 cores can be cut";
  EXPECT_THAT(VictimsFor(6), ElementsAre("low"));
}

TEST_F(GangVictimsTest, PodsWithoutGpusStayButForThoseOfAGang) {
  HaveNode("a");
  state.UpsertPod(OnNode(MakePod("server", {Gpus(0), Cores(20), GiB(1)}), "a"));
  EXPECT_THAT(VictimsFor(8), ElementsAre("nobody helps"));
  Running("worker", "a", 1, 0, "victim", 2);
  Change("server", [this](Pod& pod) { pod = OfGang(pod, "victim", 2); });
  EXPECT_THAT(VictimsFor(8), UnorderedElementsAre("server", "worker"));
}

}  // namespace
}  // namespace synergy::testing
