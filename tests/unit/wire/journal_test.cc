#include "wire/journal/journal.h"

#include <limits>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "support/cluster_vocabulary.h"
#include "wire/journal/decisions.h"

namespace synergy::wire {
namespace {

namespace change = cluster_change;
using synergy::testing::MakeNode;
using synergy::testing::MakePod;

// The lines are a file format: newer versions must be able to read the journals of older ones.
TEST(JournalTest, IsOneLineOfJsonThatNamesTheCall) {
  const auto line = [](auto call) { return WriteJournalLine({call, 7}); };
  EXPECT_EQ(line(change::RemoveNode{"n1"}), R"({"call":"RemoveNode","version":"7","name":"n1"})");
  EXPECT_EQ(line(change::ReplaceNodes{}), R"({"call":"ReplaceNodes","version":"7"})");
  EXPECT_EQ(line(change::UpsertNode{MakeNode("n1", {Gpus(8), Cores(24), GiB(1)})}),
            R"({"call":"UpsertNode","version":"7","node":{"name":"n1","allocatable":{"main":)"
            R"({"gpus":8,"cpu":24000,"memory":1073741824}},"podsAllowed":110}})");
  const std::string pod =
      R"({"uid":"p","namespace":"team","name":"p","requests":{"main":{"gpus":1}}})";
  const Pod value = MakePod("p", {.gpus = Gpus(1)});
  EXPECT_EQ(line(change::PutListedPods{{value}, 8}),
            R"({"call":"PutListedPods","version":"7","pods":[)" + pod + R"(],"heardUntil":"8"})");
  EXPECT_EQ(line(change::UpsertPod{value}),
            R"({"call":"UpsertPod","version":"7","pod":)" + pod + "}");
  EXPECT_EQ(line(change::RefreshPod{value}),
            R"({"call":"RefreshPod","version":"7","pod":)" + pod + "}");
  EXPECT_EQ(line(change::RemovePod{"p"}), R"({"call":"RemovePod","version":"7","uid":"p"})");
  EXPECT_EQ(line(change::Expect{value, 3, Instant(Duration(5))}),
            R"({"call":"Expect","version":"7","pod":)" + pod + R"(,"place":3,"deadline":5})");
  AssumeOutcome outcome;
  outcome.failures.Add(FitFailures::kGpus);
  outcome.bound_to = "n2";
  EXPECT_EQ(line(change::Assume{value, "n1", Instant(Duration(5)), outcome}),
            R"({"call":"Assume","version":"7","pod":)" + pod +
                R"(,"node":"n1","deadline":5,"outcome":{"failures":16,"boundTo":"n2"}})");
  EXPECT_EQ(line(change::Forget{"p"}), R"({"call":"Forget","version":"7","uid":"p"})");
  EXPECT_EQ(line(change::Extend{"p", Instant(Duration(5))}),
            R"({"call":"Extend","version":"7","uid":"p","deadline":5})");
  EXPECT_EQ(line(change::DropStaleExpectations{Instant(Duration(5)), WallTime(Duration(6))}),
            R"({"call":"DropStaleExpectations","version":"7","now":5,"wall":6})");
  EXPECT_EQ(line(change::KeepNews{}), R"({"call":"KeepNews","version":"7"})");
  EXPECT_EQ(line(change::ReplaceDisruptionBudgets{}),
            R"({"call":"ReplaceDisruptionBudgets","version":"7"})");
  DisruptionBudget budget{.uid = "b", .disruptions_allowed = 1};
  budget.selector.requirements = {{"app", LabelSelector::Operator::kNotIn, {"web"}}};
  EXPECT_EQ(line(change::UpsertDisruptionBudget{budget}),
            R"({"call":"UpsertDisruptionBudget","version":"7","budget":{"uid":"b","selector":)"
            R"({"requirements":[{"key":"app","operator":"NotIn","values":["web"]}]},)"
            R"("disruptionsAllowed":1}})");
  EXPECT_EQ(line(change::RemoveDisruptionBudget{"b"}),
            R"({"call":"RemoveDisruptionBudget","version":"7","uid":"b"})");
}

// The same holds for the tuner's actions.
TEST(JournalTest, NamesTheCallsOfDynamicResourceAllocation) {
  const auto line = [](auto call) { return WriteJournalLine({call, 7}); };
  EXPECT_EQ(line(change::CountDevices{{"nvidia.com/gpu", {"gpu.nvidia.com"}}}),
            R"({"call":"CountDevices","version":"7","rules":{"gpuResource":"nvidia.com/gpu",)"
            R"("classes":["gpu.nvidia.com"]}})");
  ResourceClaim claim{.uid = "u", .pod_namespace = "team", .name = "c"};
  claim.requests = {{"gpu.nvidia.com", 2}};
  claim.allocated = true;
  claim.devices = {{"gpu.nvidia.com", "n1", "gpu-0", true}};
  EXPECT_EQ(line(change::UpsertResourceClaim{claim}),
            R"({"call":"UpsertResourceClaim","version":"7","claim":{"uid":"u","namespace":"team",)"
            R"("name":"c","requests":[{"deviceClass":"gpu.nvidia.com","count":2}],)"
            R"("allocated":true,"devices":[{"driver":"gpu.nvidia.com","pool":"n1",)"
            R"("device":"gpu-0","adminAccess":true}]}})");
  ResourceSlice slice{.name = "s", .driver = "gpu.nvidia.com", .pool = "n1", .generation = 3};
  slice.devices = {{"gpu-0", "n1", "A100"}, {"gpu-1", "n1", "", true, true}};
  EXPECT_EQ(line(change::UpsertResourceSlice{slice}),
            R"({"call":"UpsertResourceSlice","version":"7","slice":{"name":"s",)"
            R"("driver":"gpu.nvidia.com","pool":"n1","generation":3,"devices":[)"
            R"({"name":"gpu-0","node":"n1","product":"A100"},)"
            R"({"name":"gpu-1","node":"n1","part":true,"tainted":true}]}})");
  EXPECT_EQ(line(change::UpsertDeviceClass{{"gpu.nvidia.com", "nvidia.com/gpu"}}),
            R"({"call":"UpsertDeviceClass","version":"7","class":{"name":"gpu.nvidia.com",)"
            R"("extendedResource":"nvidia.com/gpu"}})");
  EXPECT_EQ(line(change::RemoveResourceClaim{"u"}),
            R"({"call":"RemoveResourceClaim","version":"7","uid":"u"})");
  EXPECT_EQ(line(change::RemoveDeviceClass{"c"}),
            R"({"call":"RemoveDeviceClass","version":"7","name":"c"})");
}

TEST(DecisionsTest, EveryActionIsReadAndWrittenInTheSameWords) {
  const std::string pod =
      R"("pod":{"uid":"p","namespace":"team","name":"p","requests":{"main":{"gpus":1}}})";
  const std::string change =
      R"("change":{"kind":"Reclaimed","to":{"cpu":2000},"why":"room","at":3})";
  const std::string bound = R"("placeEnd":"Bound")";
  const std::string rest = R"("respected":"ByHand"})";
  const std::vector<std::string> actions{
      R"({"kind":"KeepPlace",)" + pod + R"(,"node":"n","until":5,"waited":6,"cost":0.5,)" + bound +
          "," + rest,
      R"({"kind":"EndPlace",)" + pod + R"(,"node":"n","placeEnd":"GivenUp",)" + rest,
      R"({"kind":"Remind",)" + pod + "," + bound + "," + rest,
      R"({"kind":"Announce",)" + pod + "," + bound + "," + change + R"(,"unchanged":true,)" + rest,
      R"({"kind":"Resize",)" + pod + "," + bound + "," + change + "," + rest,
      R"({"kind":"Record",)" + pod + "," + bound + "," + change + "," + rest,
      R"({"kind":"Withdraw",)" + pod + "," + bound + "," + change +
          R"(,"before":{"kind":"Undone","at":2},"unshrinkableUntil":9,"failure":"NoRoom",)" + rest,
      R"({"kind":"PutBack",)" + pod + "," + bound + "," + change +
          R"(,"unshrinkableUntil":9,"failure":"Timeout",)" + rest,
      R"({"kind":"Tell",)" + pod + "," + bound +
          R"(,"respected":"Devices","message":"keeps them"})"};
  std::string line = R"({"decision":"TunerDecided","version":"7","news":"1","at":{"now":1},)"
                     R"("actions":[)";
  for (const std::string& action : actions) {
    line += action;
    line += action == actions.back() ? "]" : ",";
  }
  line += R"(,"wake":8})";
  const Result<Decision> read = ReadDecisionLine(line);
  ASSERT_TRUE(read) << read.error().message;
  const auto& decided = std::get<decision::TunerDecided>(*read);
  ASSERT_EQ(decided.actions.size(), std::variant_size_v<TunerAction::What>);
  for (size_t i = 0; i < decided.actions.size(); ++i) EXPECT_EQ(decided.actions[i].what.index(), i);
  EXPECT_EQ(WriteDecisionLine(*read), line);
}

TEST(JournalTest, NumbersAreExactToTheirEnds) {
  using Limits = std::numeric_limits<int64_t>;
  Pod pod = MakePod("p", {Gpus(Limits::min()), MilliCpu(Limits::max()), Bytes(Limits::max() - 1)});
  pod.resource_version = std::numeric_limits<uint64_t>::max();
  pod.priority = std::numeric_limits<int32_t>::min();
  const auto read = ReadJournalLine(
      WriteJournalLine({change::Expect{pod, std::numeric_limits<NodeIndex>::max(), Instant::max()},
                        std::numeric_limits<uint64_t>::max()}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->version, std::numeric_limits<uint64_t>::max());
  const auto& call = std::get<change::Expect>(read->call);
  EXPECT_EQ(call.pod.requests, pod.requests);
  EXPECT_EQ(call.pod.resource_version, pod.resource_version);
  EXPECT_EQ(call.pod.priority, pod.priority);
  EXPECT_EQ(call.node, std::numeric_limits<NodeIndex>::max());
  EXPECT_EQ(call.deadline, Instant::max());
}

// A limit of zero is a limit, and a demand of zero is a demand.
TEST(JournalTest, ZeroDiffersFromMissing) {
  Pod pod = MakePod("p", {});
  pod.demand = ResourceVector{};
  ManagedContainer fungible;
  fungible.cpu_limit = MilliCpu(0);
  pod.fungible = std::make_shared<const ManagedContainer>(fungible);
  const auto read = ReadJournalLine(WriteJournalLine({change::UpsertPod{pod}, 1}));
  ASSERT_TRUE(read) << read.error().message;
  const Pod& again = std::get<change::UpsertPod>(read->call).pod;
  EXPECT_EQ(again.demand, ResourceVector{});
  ASSERT_NE(again.fungible, nullptr);
  EXPECT_EQ(again.fungible->cpu_limit, MilliCpu(0));
  EXPECT_EQ(again.fungible->memory_limit, std::nullopt);
  EXPECT_EQ(again.waiting, nullptr);
}

TEST(JournalTest, ErrorsNameTheRefusedMember) {
  const auto problem = [](std::string_view line) {
    const auto read = ReadJournalLine(line);
    EXPECT_FALSE(read) << line;
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(problem("[]"), "call: unknown name \"\"");
  EXPECT_EQ(problem(R"({"call":"Reboot"})"), "call: unknown name \"Reboot\"");
  EXPECT_EQ(problem(R"({"call":"UpsertPod","pod":{"priority":2147483648}})"),
            R"(pod.priority: "2147483648" is not a whole number from -2147483648 to 2147483647)");
  EXPECT_EQ(problem(R"({"call":"UpsertPod","pod":{"requests":{"main":{"cpu":1.5}}}})"),
            R"(pod.requests.main.cpu: "1.5" is not a whole number from -9223372036854775808 to )"
            "9223372036854775807");
  EXPECT_EQ(problem(R"({"call":"UpsertPod","pod":{"fungible":{"enforcement":"Lax"}}})"),
            R"(pod.fungible.enforcement: is not one of the allowed words)");
  EXPECT_EQ(problem(R"({"call":"KeepNews","version":7})"),
            "version: must be a string, not a number");
  EXPECT_NE(problem(R"({"call":"KeepNews")"), "");
}

}  // namespace
}  // namespace synergy::wire
