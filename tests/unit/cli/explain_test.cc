#include "cli/views/explain.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/node_selection.h"
#include "engine/reservations/passing_check.h"
#include "support/cluster_vocabulary.h"

namespace synergy::cli::testing {
namespace {

using synergy::testing::MakeNode;
using synergy::testing::MakePod;
using synergy::testing::MakeSharedNode;
using synergy::testing::MakeSlicePod;
using synergy::testing::OnNode;
using synergy::testing::SizedByUs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const WallTime kNow = WallTime() + std::chrono::hours(1000);

ResourceVector Amounts(int64_t gpus, int64_t cores, int64_t gib) {
  return {Gpus(gpus), Cores(cores), MiB(gib * 1024)};
}

// Returns a profile that is twice as fast with three times the CPU of its fair share.
ProfileObject MakeProfile(int64_t generation = 1) {
  ProfileObject object;
  object.profile_namespace = "team";
  object.name = "resnet";
  object.generation = generation;
  object.profile = std::make_shared<const JobProfile>(
      *JobProfile::Create(Gpus(1), {{Cores(3), MiB(4096), 10}, {Cores(9), MiB(4096), 20}}));
  return object;
}

Pod Managed(const std::string& name, int64_t cores) {
  Pod pod = MakePod(name, Amounts(1, cores, 4));
  ManagedContainer fungible;
  fungible.container = "train";
  fungible.profile = "resnet";
  fungible.profile_generation = 1;
  fungible.floor = Amounts(1, 3, 4);
  fungible.fair_share = Amounts(1, 3, 4);
  fungible.demand = Amounts(1, 9, 4);
  fungible.requested = fungible.in_force = fungible.set_aside = Amounts(1, cores, 4);
  fungible.devices = DeviceReading{DeviceSafety::kSafe, {}};
  pod.fungible = std::make_shared<const ManagedContainer>(fungible);
  return pod;
}

Pod Unschedulable(Pod pod) {
  auto waiting = std::make_shared<Waiting>();
  waiting->scheduler = "synergy-scheduler";
  waiting->unschedulable = true;
  waiting->message = "0/1 nodes are available";
  waiting->since = kNow - std::chrono::minutes(3);
  waiting->selection = std::make_shared<const NodeSelection>();
  pod.waiting = std::move(waiting);
  return pod;
}

std::shared_ptr<const ClusterSnapshot> Cluster(std::vector<Node> nodes, std::vector<Pod> pods) {
  ClusterState state;
  state.ReplaceNodes(std::move(nodes));
  state.ReplacePods(std::move(pods));
  return state.Snapshot();
}

Pod MemberOf(const std::string& name, const std::string& node, int64_t cores, int32_t size = 3) {
  Pod pod = Managed(name, cores);
  pod.node = node;
  pod.gang = std::make_shared<const Gang>(Gang{"team/bert", size, {}});
  return pod;
}

TEST(ExplainTest, DevicesThatAreNotHealthyAreNamedWithWhatToDo) {
  PodFacts facts;
  facts.pod = Managed("w-0", 6);
  facts.pod.node = "n1";
  Explanation explanation = Explain(facts, kNow);
  EXPECT_THAT(ToText(explanation, kNow), Not(HasSubstr("Device ")));
  EXPECT_THAT(ToJson(ToTree(explanation)), HasSubstr("\"unhealthyDevices\": []"));
  EXPECT_THAT(explanation.remarks, Not(Contains(HasSubstr("devices"))));
  facts.unhealthy_devices = {{"train", "nvidia.com/gpu", "GPU-2", "Unhealthy", ""}};
  explanation = Explain(facts, kNow);
  EXPECT_THAT(ToText(explanation, kNow),
              HasSubstr("\nDevice nvidia.com/gpu GPU-2 of container train: Unhealthy\n"));
  EXPECT_THAT(ToJson(ToTree(explanation)), HasSubstr("\"id\": \"GPU-2\""));
  EXPECT_THAT(explanation.remarks, Contains(HasSubstr("describe node n1`")));
  EXPECT_THAT(explanation.remarks, Not(Contains(HasSubstr("Unknown"))));
  facts.unhealthy_devices = {{"train", "nvidia.com/gpu", "GPU-3", "Unknown", "gone"}};
  explanation = Explain(facts, kNow);
  EXPECT_THAT(ToText(explanation, kNow),
              HasSubstr("\nDevice nvidia.com/gpu GPU-3 of container train: Unknown: gone\n"));
  EXPECT_THAT(explanation.remarks, Contains(HasSubstr("run on node n1")));
  EXPECT_THAT(explanation.remarks, Not(Contains(HasSubstr("unhealthy"))));
}

TEST(ExplainTest, AMemberOfAGangHasThoseThatTrainWithIt) {
  PodFacts facts;
  facts.pod = MemberOf("w-0", "n1", 6);
  const auto remarks_on = [&](std::vector<Pod> pods) {
    pods.push_back(facts.pod);
    facts.cluster = Cluster(
        {MakeNode("n1", Amounts(4, 24, 64)), MakeNode("n2", Amounts(4, 24, 64))}, std::move(pods));
    return ToText(Explain(facts, kNow), kNow);
  };
  EXPECT_THAT(remarks_on({MemberOf("w-1", "n2", 6), MemberOf("w-2", "n2", 6)}),
              HasSubstr("Gang team/bert of 3 pods: 3 exist, 3 run (1 on n1, 2 on n2); each has "
                        "cpu 6, memory 4Gi\n"));
  EXPECT_THAT(remarks_on({MemberOf("w-1", "n2", 9), Unschedulable(MemberOf("w-2", "", 3))}),
              HasSubstr("2 run (1 on n1, 1 on n2); they have from cpu 6, memory 4Gi to cpu 9, "
                        "memory 4Gi, to be equalised within a round or two\n"
                        "  1 of them wait until all of these can be placed at once\n"));
  facts.pod = Unschedulable(MemberOf("w-0", "", 3));
  EXPECT_THAT(remarks_on({}), HasSubstr("Gang team/bert of 3 pods: 1 exist, 0 run\n"
                                        "  it waits for 2 more pods to be created\n"));
  EXPECT_THAT(ToJson(ToTree(Explain(facts, kNow))), HasSubstr("\"gang\""));
  facts.cluster = nullptr;
  EXPECT_THAT(ToText(Explain(facts, kNow), kNow), HasSubstr("Gang team/bert of 3 pods\n"));
}

TEST(ExplainTest, InitContainersThatAskForMoreAreNamed) {
  PodFacts facts;
  facts.pod = Managed("train-0", 6);
  EXPECT_THAT(Explain(facts, kNow).remarks, Not(Contains(HasSubstr("init containers"))));
  auto fungible = std::make_shared<ManagedContainer>(*facts.pod.fungible);
  fungible->init_peak = {Gpus(0), Cores(8), Bytes(0)};
  facts.pod.fungible = fungible;
  EXPECT_THAT(Explain(facts, kNow).remarks,
              Contains(HasSubstr("its node counts at least cpu 8, memory 4Gi for it")));
}

TEST(ExplainTest, APlacedPodHasItsSpeedItsChangeAndItsNode) {
  PodFacts facts;
  facts.pod = Managed("train-0", 6);
  facts.pod.node = "n1";
  auto fungible = std::make_shared<ManagedContainer>(*facts.pod.fungible);
  fungible->change = ChangeRecord{ChangeKind::kGrown, Amounts(1, 3, 4), Amounts(1, 6, 4),
                                  "the node had room", kNow - std::chrono::seconds(90)};
  facts.pod.fungible = fungible;
  facts.profiles = Profiles({MakeProfile()});
  facts.cluster = Cluster({MakeNode("n1", Amounts(8, 24, 64))}, {facts.pod});

  const Explanation explanation = Explain(facts, kNow);
  ASSERT_TRUE(explanation.pod.speed);
  EXPECT_DOUBLE_EQ(explanation.pod.speed->now, 15);
  EXPECT_DOUBLE_EQ(explanation.pod.speed->fair, 10);
  EXPECT_DOUBLE_EQ(explanation.pod.speed->best, 20);
  ASSERT_TRUE(explanation.node);
  EXPECT_EQ(explanation.node->surplus.cpu, Cores(3));
  EXPECT_DOUBLE_EQ(*explanation.node->part_of_best, 0.75);
  EXPECT_FALSE(explanation.waits);
  EXPECT_THAT(explanation.remarks, ElementsAre());

  const std::string text = ToText(explanation, kNow);
  EXPECT_THAT(text, HasSubstr("Pod team/train-0: placed on node n1, 1 GPU\n"));
  EXPECT_THAT(text, HasSubstr("Throughput 15 of at best 20 (75 %), 1.50 times that of the fair "));
  EXPECT_THAT(text, HasSubstr("Last change 90s ago, Grown (cpu 3, memory 4Gi -> cpu 6, memory "
                              "4Gi): the node had room"));
  EXPECT_THAT(ToJson(ToTree(explanation)), HasSubstr("\"partOfBest\": 0.75"));
}

TEST(ExplainTest, ListsTheReasonPerNodeForAWaitingPod) {
  Node tainted = MakeNode("n3", Amounts(8, 24, 64));
  tainted.taints = {{"team", "others", "NoSchedule"}};
  Pod peer = Managed("peer", 23);
  peer.node = "n1";
  Pod filler = MakePod("filler", Amounts(8, 1, 1));
  filler.node = "n2";
  PodFacts facts;
  facts.pod = Unschedulable(Managed("train-1", 3));
  facts.cluster = Cluster({MakeNode("n1", Amounts(8, 24, 64)), MakeNode("n2", Amounts(8, 24, 64)),
                           tainted, MakeNode("n4", Amounts(8, 24, 64))},
                          {peer, filler, facts.pod});

  const Explanation explanation = Explain(facts, kNow);
  ASSERT_TRUE(explanation.waits);
  EXPECT_EQ(explanation.waits->nodes_with_room, 1u);  // n4
  // n1, where the peer has 20 cores above its floor
  EXPECT_EQ(explanation.waits->nodes_by_reclaim, 1u);
  std::vector<std::string> reasons;
  for (const NodeObstacle& obstacle : explanation.waits->obstacles) {
    reasons.push_back(obstacle.reason);
    EXPECT_EQ(obstacle.nodes, 1u);
  }
  EXPECT_THAT(reasons, ::testing::UnorderedElementsAre(
                           "Insufficient cpu", "Insufficient GPUs",
                           "the pod's nodeSelector, affinity or tolerations exclude the node"));
  const std::string text = ToText(explanation, kNow);
  EXPECT_THAT(text, HasSubstr("Waits for synergy-scheduler, unschedulable for 3m\n"));
  EXPECT_THAT(text, HasSubstr("the tuner reclaims it"));
  EXPECT_THAT(text, Not(HasSubstr("n4")));
  EXPECT_THAT(ToJson(ToTree(explanation)), Not(HasSubstr("\"n4\"")));

  const std::string each = ToText(explanation, kNow, true);
  EXPECT_THAT(each, ContainsRegex("n1 +7 +1 +60Gi +Insufficient cpu\n"));
  EXPECT_THAT(each, ContainsRegex("n2 +0 .*Insufficient GPUs\n"));
  EXPECT_THAT(each, ContainsRegex("n3 .*exclude the node\n"));
  EXPECT_THAT(each, ContainsRegex("n4 +8 +24 +64Gi +room for it now\n"));
  EXPECT_THAT(ToJson(ToTree(explanation, true)), HasSubstr("\"node\": \"n4\""));
}

TEST(ExplainTest, ShowsWhenAWaitingJobGetsItsGpus) {
  PodFacts facts;
  facts.pod = Unschedulable(Managed("big", 3));
  facts.reservation = PublishedReservation{.job = "team/big",
                                           .places = {{"gpu-3", Gpus(8)}},
                                           .earliest = kNow + std::chrono::minutes(50),
                                           .likely = kNow + std::chrono::minutes(80),
                                           .latest = kNow + std::chrono::minutes(130),
                                           .waits_for = {"team/train-a", "team/train-b"},
                                           .until = kNow + std::chrono::minutes(1)};
  const Explanation explanation = Explain(facts, kNow);
  EXPECT_THAT(ToText(explanation, kNow),
              HasSubstr("\n  starts about 17:20 UTC (16:50 UTC to 18:10 UTC) on gpu-3, when "
                        "team/train-a and team/train-b are done\n"));
  EXPECT_THAT(ToJson(ToTree(explanation)), HasSubstr("\"likely\": \"1970-02-11T17:20:00"));
  facts.reservation->until = kNow;
  EXPECT_THAT(ToText(Explain(facts, kNow), kNow), Not(HasSubstr("starts about")));
}

TEST(ExplainTest, ShowsWhichNodesAWaitingPodAvoids) {
  PodFacts facts;
  facts.pod = Unschedulable(Managed("train", 3));
  EXPECT_THAT(ToText(Explain(facts, kNow), kNow), Not(HasSubstr("avoids")));
  facts.avoids = {"gpu-3", "gpu-5"};
  const Explanation explanation = Explain(facts, kNow);
  EXPECT_THAT(ToText(explanation, kNow),
              HasSubstr("\n  it avoids gpu-3, gpu-5 after failures there, as long as others have "
                        "room\n"));
  EXPECT_THAT(ToJson(ToTree(explanation)), HasSubstr("\"gpu-5\""));
}

TEST(ExplainTest, AdvisesAPodThatReservationsKeepAway) {
  PodFacts facts;
  facts.pod = Unschedulable(Managed("small", 3));
  EXPECT_THAT(Explain(facts, kNow).remarks, Not(Contains(HasSubstr("activeDeadlineSeconds"))));
  auto waiting = std::make_shared<Waiting>(*facts.pod.waiting);
  waiting->message = "0/2 nodes are available: 1 GPUs of gpu-3" + std::string(kReservedFor) + "x";
  facts.pod.waiting = waiting;
  EXPECT_THAT(Explain(facts, kNow).remarks, Contains(HasSubstr("activeDeadlineSeconds")));
}

TEST(ExplainTest, NamesThePodForWhichAPlaceIsReserved) {
  PodFacts facts;
  facts.pod = Unschedulable(Managed("rival", 3));
  EXPECT_THAT(Explain(facts, kNow).remarks,
              Not(Contains(HasSubstr("reserved for the replacement"))));
  auto waiting = std::make_shared<Waiting>(*facts.pod.waiting);
  waiting->message =
      "0/2 nodes are available: 1 Insufficient cpu, 1 its room is reserved for the pod that "
      "replaces "
      "team/bert-3, of gang team/bert. preemption: 0/2 nodes are available";
  facts.pod.waiting = std::move(waiting);
  EXPECT_THAT(Explain(facts, kNow).remarks,
              Contains(HasSubstr("reserved for the replacement of team/bert-3: until that pod")));
}

TEST(ExplainTest, RemarksOnUnusualPods) {
  PodFacts facts;
  facts.notes = {"nodes are not shown: forbidden"};
  facts.pod = Managed("train-0", 6);
  facts.pod.node = "n1";
  auto fungible = std::make_shared<ManagedContainer>(*facts.pod.fungible);
  fungible->change = ChangeRecord{ChangeKind::kGrown, Amounts(1, 3, 4), Amounts(1, 5, 4), "", kNow};
  fungible->unshrinkable_until = kNow + std::chrono::minutes(1);
  fungible->memory_let_be = true;
  facts.pod.fungible = fungible;
  facts.profiles = Profiles({MakeProfile(2)});
  EXPECT_THAT(
      Explain(facts, kNow).remarks,
      ElementsAre("nodes are not shown: forbidden", HasSubstr("generation 2, admitted with 1"),
                  HasSubstr("another client has resized it"),
                  HasSubstr("attempt to make it smaller failed"),
                  HasSubstr("an OOM kill followed")));

  facts.profiles = Profiles();
  EXPECT_THAT(Explain(facts, kNow).remarks, Contains(HasSubstr("resnet does not exist")));
}

TEST(ExplainTest, ExplainsThatAResizeMayCostAPodItsGpus) {
  PodFacts facts;
  facts.pod = Managed("train-0", 6);
  facts.pod.node = "n1";
  auto fungible = std::make_shared<ManagedContainer>(*facts.pod.fungible);
  fungible->devices = DeviceReading{DeviceSafety::kUnsafe, "its scope lists no GPU"};
  facts.pod.fungible = fungible;
  facts.profiles = Profiles({MakeProfile()});
  EXPECT_THAT(Explain(facts, kNow).remarks,
              Contains(AllOf(HasSubstr("unsafe"), HasSubstr("its scope lists no GPU"))));

  facts.cluster = Cluster({MakeNode("n1", Amounts(8, 24, 64))}, {facts.pod});
  Explanation explanation = Explain(facts, kNow);
  EXPECT_EQ(explanation.node->devices, DeviceSafety::kUnsafe);
  EXPECT_EQ(explanation.node->surplus.cpu, MilliCpu(0)) << "nothing can be had there";
  EXPECT_EQ(explanation.pod.surplus.cpu, MilliCpu(0));
  EXPECT_THAT(ToText(ShowNodes({*explanation.node})), HasSubstr("unsafe"));

  Node node = MakeNode("n1", Amounts(8, 24, 64));
  node.labels = {{"synergy.io/devices-safe", "true"}};
  facts.cluster = Cluster({node}, {facts.pod});
  explanation = Explain(facts, kNow);
  EXPECT_THAT(explanation.remarks, Not(Contains(HasSubstr("unsafe"))));
  EXPECT_EQ(explanation.node->devices, DeviceSafety::kSafe);
}

TEST(ExplainTest, ExplainsThatAResizeHasCostAnotherPodOfTheNodeItsGpus) {
  PodFacts facts;
  facts.pod = Managed("train-0", 6);
  facts.pod.node = "n1";
  facts.profiles = Profiles({MakeProfile()});
  Pod lost = Managed("train-1", 6);
  lost.node = "n1";
  auto fungible = std::make_shared<ManagedContainer>(*lost.fungible);
  fungible->devices = DeviceReading{DeviceSafety::kLost, "create the pod again"};
  lost.fungible = fungible;
  facts.cluster = Cluster({MakeNode("n1", Amounts(8, 24, 64))}, {facts.pod, lost});
  const Explanation explanation = Explain(facts, kNow);
  EXPECT_THAT(explanation.remarks, Contains(AllOf(HasSubstr("lost"), HasSubstr("another pod"))));
  EXPECT_EQ(explanation.node->devices, DeviceSafety::kLost);
  EXPECT_THAT(ToText(ShowNodes({*explanation.node})), HasSubstr("lost"));
}

TEST(ExplainTest, RemarksThatAPodWithoutProgressIsNotMeasured) {
  PodFacts facts;
  facts.pod = Managed("train-0", 3);
  facts.pod.uid = "u-0";
  auto fungible = std::make_shared<ManagedContainer>(*facts.pod.fungible);
  fungible->profile.clear();
  facts.pod.fungible = fungible;
  EXPECT_THAT(Explain(facts, kNow).remarks, Contains(HasSubstr("has not been measured")));
  KnownProgress& known = facts.progress.by_uid["u-0"];
  known.pod.format = "tqdm";
  EXPECT_THAT(Explain(facts, kNow).remarks, Contains(HasSubstr("has not been measured")));
  known.pod.format.clear();
  EXPECT_THAT(Explain(facts, kNow).remarks,
              Contains(AllOf(HasSubstr("its log shows no training progress"),
                             HasSubstr("its fair share"))));
  known.pod.estimate = BusyEstimate{.busy = 50, .rate = 0.8, .at = {}};
  EXPECT_THAT(Explain(facts, kNow).remarks,
              Contains(AllOf(HasSubstr("the estimate by how busy"), HasSubstr("never below"))));
}

TEST(ExplainTest, ShowsTheNoteOfAMeasuredProfile) {
  PodFacts facts;
  facts.pod = Managed("train-0", 3);
  ProfileObject object = MakeProfile();
  object.measured = MeasuredProfile{.note = "its speed changes too much to be measured"};
  facts.profiles = Profiles({object});
  EXPECT_THAT(Explain(facts, kNow).remarks, Contains(HasSubstr("changes too much")));
}

TEST(ExplainTest, NamesTheIdentityThatFoundAMeasuredProfile) {
  PodFacts facts;
  facts.pod = Managed("train-0", 3);
  ProfileObject object = MakeProfile();
  object.measured = MeasuredProfile{};
  facts.profiles = Profiles({object});
  EXPECT_EQ(Explain(facts, kNow).found_by, "exact");
  EXPECT_THAT(ToText(Explain(facts, kNow), kNow), HasSubstr("found by identity: exact"));
  object.measured->taken = {"measured-w-1", LooserIdentity::kOwner};
  facts.profiles = Profiles({object});
  EXPECT_EQ(Explain(facts, kNow).found_by, "owner");
  EXPECT_THAT(Explain(facts, kNow).remarks,
              Contains(AllOf(HasSubstr("measured-w-1"), HasSubstr("agrees"))));
  auto fungible = std::make_shared<ManagedContainer>(*facts.pod.fungible);
  fungible->hint = LooserIdentity::kArguments;
  facts.pod.fungible = fungible;
  EXPECT_EQ(Explain(facts, kNow).found_by, "arguments");
  EXPECT_THAT(Explain(facts, kNow).remarks,
              Contains(AllOf(HasSubstr("is a hint"), HasSubstr("fair share"))));
}

TEST(ExplainTest, ExplainsWhyAPodIsNotManaged) {
  PodFacts facts;
  facts.pod = MakePod("web", Amounts(0, 1, 1));
  EXPECT_THAT(Explain(facts, kNow).remarks, ElementsAre(HasSubstr("requests no GPUs")));
  facts.pod = MakePod("opted-out", Amounts(1, 1, 1));
  EXPECT_THAT(Explain(facts, kNow).remarks, ElementsAre(HasSubstr("was created as written")));
  facts.pod.labels = {{"synergy.io/fungible", "false"}};
  EXPECT_THAT(Explain(facts, kNow).remarks, ElementsAre(HasSubstr("from changes")));
}

TEST(ExplainTest, TurnsAreExplained) {
  PodFacts facts;
  facts.pod = SizedByUs(OnNode(MakeSlicePod("a", 1), "n1"));
  facts.pod.requests.other = {};
  facts.pod.requests.other.Set("nvidia.com/gpu.turns", 1);
  Pod other = facts.pod;
  other.uid = other.name = "b";
  facts.cluster = Cluster({MakeSharedNode("n1", 2, 2, Amounts(0, 24, 64))}, {facts.pod, other});
  TurnReading& reading =
      facts.progress.by_uid[facts.pod.uid].pod.turn.emplace(TurnReading{.gpus = {"GPU-0"}});
  const auto remarks = [&facts] { return Explain(facts, kNow).remarks; };
  EXPECT_THAT(remarks(), Contains(HasSubstr("so it takes no turns")));
  facts.pod.gang = std::make_shared<const Gang>(Gang{.name = "team/g", .size = 2});
  EXPECT_THAT(remarks(), Contains(HasSubstr("it takes no turns: no other pod that trains has a GPU "
                                            "of its gang, or a member of the gang is missing")));
  facts.pod.gang = nullptr;
  ManagedContainer fungible = *facts.pod.fungible;
  using std::chrono::seconds;
  fungible.turn = GpuTurn{kNow - seconds(25), seconds(120), {{seconds(60), seconds(120)}}, {"b"}};
  facts.pod.fungible = std::make_shared<const ManagedContainer>(fungible);
  reading.suspended = true;
  EXPECT_THAT(remarks(), Contains("suspended; its next turn in 35s; it takes turns of 60s with " +
                                  other.Key()));
  EXPECT_THAT(ToText(Explain(facts, kNow), kNow),
              HasSubstr("suspended on node n1, 1 turn of GPUs"));
  reading.suspended = false;
  EXPECT_THAT(remarks(), Contains(HasSubstr("it is its turn on the GPU")));
  const std::string packed = "it runs packed: at the same time as " + other.Key() + " on its GPU";
  fungible.turn->beside = "b";
  facts.pod.fungible = std::make_shared<const ManagedContainer>(fungible);
  EXPECT_THAT(remarks(), Contains(packed));
  fungible.turn = GpuTurn{kNow, seconds(60), {{seconds(0), seconds(60)}}, {}, "b"};
  facts.pod.fungible = std::make_shared<const ManagedContainer>(fungible);
  EXPECT_THAT(remarks(), Contains(packed + ", so neither waits"));
  fungible.turn = GpuTurn{kNow, seconds(60), {{seconds(0), seconds(30)}}, {}};
  facts.pod.fungible = std::make_shared<const ManagedContainer>(fungible);
  EXPECT_THAT(remarks(), Contains(HasSubstr("other members of its gang take turns")));
  fungible.workload = "bert";
  facts.pod.fungible = std::make_shared<const ManagedContainer>(fungible);
  ProfileObject profile;
  profile.profile_namespace = facts.pod.pod_namespace;
  profile.name = "measured-bert";
  profile.workload = "bert";
  profile.training.gpu_product = "v100";
  profile.kept_by_us = true;
  for (int index = 0; index < 7; ++index) {
    profile.packing.push_back({"w" + std::to_string(index), index > 0, 0.8, 0.7, 0,
                               kNow - std::chrono::minutes(index), std::chrono::minutes(20)});
  }
  facts.profiles = Profiles({profile});
  EXPECT_THAT(remarks(),
              Contains("at the same time as workload w0 on v100 it has 0.80 of its speed "
                       "alone, and the other 0.70: refused, and not tried again for 20m"));
  EXPECT_THAT(remarks(),
              Contains(HasSubstr("as workload w4 on v100 it has 0.80 of its speed alone, "
                                 "and the other 0.70: good")));
  EXPECT_THAT(remarks(),
              Contains("2 older results of packs: kubectl synergy profiles measured-bert"));
  reading.refusal = "its liveness probe would fail";
  EXPECT_THAT(remarks(), Contains(HasSubstr("never suspended: its liveness probe would fail")));
}

TEST(ExplainTest, SlicesOfGpusAreShown) {
  PodFacts facts;
  facts.pod = SizedByUs(OnNode(MakeSlicePod("sharer", 2), "n1"));
  facts.cluster = Cluster({MakeSharedNode("n1", 2, 4, Amounts(0, 24, 64))}, {facts.pod});
  const Explanation running = Explain(facts, kNow);
  EXPECT_THAT(ToText(running, kNow), HasSubstr("placed on node n1, 2 slices of GPUs"));
  EXPECT_THAT(running.remarks, Contains(HasSubstr("it shares GPUs, so it is not measured")));
  facts.pod = Unschedulable(SizedByUs(MakeSlicePod("waiting", 7)));
  const Explanation waiting = Explain(facts, kNow);
  EXPECT_THAT(ToText(waiting, kNow, true),
              AllOf(HasSubstr("6 slices"), HasSubstr("Insufficient nvidia.com/gpu.shared")));
  facts.pod = MakeSlicePod("as-written", 1);
  EXPECT_THAT(Explain(facts, kNow).remarks, Contains(HasSubstr("was created as written")));
}

TEST(ExplainTest, GpusByResourceClaimsAreNamedWithWhyThePodIsLeftAlone) {
  PodFacts facts;
  facts.pod = MakePod("by-claim", Amounts(2, 1, 1));
  PodDevices devices{.claims = {"a", "b"}, .gpus = Gpus(2), .known = true, .why_left_alone = {}};
  facts.pod.devices = std::make_shared<const PodDevices>(devices);
  Explanation explanation = Explain(facts, kNow);
  EXPECT_THAT(ToText(explanation, kNow), HasSubstr("\nGPUs by ResourceClaims a, b: 2\n"));
  EXPECT_THAT(ToJson(ToTree(explanation)),
              AllOf(HasSubstr("\"gpusByClaims\": 2"), HasSubstr("\"resourceClaims\": [")));
  EXPECT_THAT(explanation.remarks, ElementsAre(HasSubstr("names a ResourceClaim itself")));
  devices.gpus = Gpus(0);
  devices.why_left_alone = "it shares a ResourceClaim with other pods";
  facts.pod = MakePod("shares", Amounts(0, 1, 1));
  facts.pod.devices = std::make_shared<const PodDevices>(devices);
  explanation = Explain(facts, kNow);
  EXPECT_THAT(ToText(explanation, kNow), Not(HasSubstr("\nGPUs by")));
  EXPECT_THAT(explanation.remarks,
              ElementsAre(HasSubstr("because it shares a ResourceClaim with other pods")));
}

TEST(ExplainTest, OnlySynergysAndTheSchedulersEventsAreShown) {
  PodFacts facts;
  facts.pod = Managed("train-0", 3);
  wire::EventAboutPod pulled;
  pulled.reason = "Pulled";
  pulled.component = "kubelet";
  wire::EventAboutPod grown;
  grown.reason = "SynergyGrown";
  grown.component = "synergy-controller";
  wire::EventAboutPod failed;
  failed.reason = "FailedScheduling";
  failed.component = "synergy-scheduler";
  facts.events = {pulled, grown, failed};
  const Explanation explanation = Explain(facts, kNow);
  ASSERT_EQ(explanation.events.size(), 2u);
  EXPECT_EQ(explanation.events[0].reason, "SynergyGrown");
  EXPECT_EQ(explanation.events[1].reason, "FailedScheduling");
}

}  // namespace
}  // namespace synergy::cli::testing
