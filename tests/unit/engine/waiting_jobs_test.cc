#include "engine/reservations/waiting_jobs.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/annotations.h"
#include "cluster/node_selection.h"
#include "cluster/state/cluster_state.h"
#include "support/cluster_vocabulary.h"
#include "support/managed_pods.h"

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Moment kAt{Instant(hours(100)), WallTime(hours(500))};

class WaitingJobsTest : public ::testing::Test {
 protected:
  WaitingJobsTest() {
    state.UpsertNode(MakeNode("n1", {Gpus(8), Cores(64), GiB(64)}));
    state.UpsertNode(MakeNode("n2", {Gpus(8), Cores(64), GiB(64)}));
    state.UpsertNode(MakeNode("cpu", {Gpus(0), Cores(64), GiB(64)}));
  }

  // A pod that kube-scheduler has found unschedulable.
  static Pod Unschedulable(const std::string& name, int64_t gpus, Duration waited = hours(1)) {
    Pod pod = MakeGpuPod(name, gpus);
    auto waiting = std::make_shared<Waiting>();
    waiting->scheduler = "synergy-scheduler";
    waiting->unschedulable = true;
    waiting->since = kAt.wall - waited;
    waiting->selection = std::make_shared<const NodeSelection>();
    pod.waiting = std::move(waiting);
    return pod;
  }
  static Pod Member(Pod pod, int32_t size) {
    pod.gang = std::make_shared<const Gang>(Gang{.name = "team/g", .size = size, .problem = {}});
    return pod;
  }
  std::vector<JobInLine> InLine() {
    return JobsInLine(*state.Snapshot(), state.WaitingPods(), "synergy-scheduler", settings, before,
                      kAt);
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const JobInLine& job : InLine()) names.push_back(job.name);
    return names;
  }

  ClusterState state;
  ReservationSettings settings;
  std::vector<GpuReservation> before;
};

TEST_F(WaitingJobsTest, AreInLineByPriorityThenByWaitingTime) {
  state.UpsertPod(Unschedulable("late", 8, minutes(20)));
  state.UpsertPod(Unschedulable("early", 8, minutes(30)));
  Pod urgent = Unschedulable("urgent", 8, minutes(11));
  urgent.priority = 7;
  state.UpsertPod(urgent);
  EXPECT_THAT(Names(), ElementsAre("team/urgent", "team/early", "team/late"));
}

TEST_F(WaitingJobsTest, AreNotInLineBeforeTheirTimeOrWithTooFewGpus) {
  state.UpsertPod(Unschedulable("p", 4, minutes(9)));
  EXPECT_THAT(Names(), IsEmpty());
  state.UpsertPod(Unschedulable("p", 4, minutes(10)));
  EXPECT_THAT(Names(), ElementsAre("team/p"));
  settings.least_gpus = Gpus(5);
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(WaitingJobsTest, AreInLineForTheTimeThatTheirEarlierPodsHaveWaitedToo) {
  state.UpsertPod(Unschedulable("new", 4, minutes(1)));
  state.UpsertPod(Unschedulable("resumed", 4, minutes(1)));
  const std::vector<JobInLine> jobs =
      JobsInLine(*state.Snapshot(), state.WaitingPods(), "synergy-scheduler", settings, before, kAt,
                 [](const Pod& pod) -> Duration { return minutes(pod.name == "resumed" ? 9 : 8); });
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].name, "team/resumed");
  EXPECT_EQ(jobs[0].since, kAt.now - minutes(10));
}

TEST_F(WaitingJobsTest, AreNotInLineIfOthersPlaceOrAdmitThem) {
  Pod other = Unschedulable("other", 8);
  auto waiting = std::make_shared<Waiting>(*other.waiting);
  waiting->scheduler = "default-scheduler";
  other.waiting = waiting;
  state.UpsertPod(other);
  Pod queued = Unschedulable("queued", 8);
  queued.labels = {{std::string(annotations::kKueuePodSet), "main"}};
  state.UpsertPod(queued);
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(WaitingJobsTest, AJobWithAReservationStaysInLineWhileAnErrorIsInItsCondition) {
  Pod pod = Unschedulable("p", 4);
  auto waiting = std::make_shared<Waiting>(*pod.waiting);
  waiting->unschedulable = false;
  pod.waiting = waiting;
  state.UpsertPod(pod);
  EXPECT_THAT(Names(), IsEmpty());
  before.emplace_back().job = "team/p";
  EXPECT_THAT(Names(), ElementsAre("team/p"));
}

TEST_F(WaitingJobsTest, ANodeWithoutRoomBesideOtherPodsIsNone) {
  state.UpsertPod(OnNode(MakePod("web", {Gpus(0), Cores(60), GiB(1)}), "n1"));
  state.UpsertPod(Unschedulable("big", 8));
  state.UpsertPod(Unschedulable("small", 4));
  const auto snapshot = state.Snapshot();
  const GpuCluster cluster = ToGpuCluster(*snapshot, InLine(), RunningJobs(*snapshot), settings,
                                          kAt.wall, [](const RunningJob&) { return std::nullopt; });
  ASSERT_EQ(cluster.waiting.size(), 2u);
  for (const WaitingGpuJob& job : cluster.waiting) {
    for (size_t node = 0; node < 2; ++node) {
      const bool has_room = job.name == "team/small" || cluster.nodes[node].name == "n2";
      EXPECT_EQ(cluster.node_sets[job.nodes][node], has_room) << job.name;
    }
  }
}

TEST_F(WaitingJobsTest, AGangIsInLineOnceItIsWholeAndSinceItsLastPodWaits) {
  state.UpsertPod(Member(Unschedulable("g-1", 4, hours(2)), 2));
  EXPECT_THAT(Names(), IsEmpty());
  state.UpsertPod(Member(Unschedulable("g-0", 4, hours(1)), 2));
  const std::vector<JobInLine> jobs = InLine();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].name, "gang team/g");
  EXPECT_EQ(jobs[0].since, kAt.now - hours(1));
  ASSERT_EQ(jobs[0].pods.size(), 2u);
  EXPECT_EQ(jobs[0].pods[0]->name, "g-0");
  state.UpsertPod(Member(Unschedulable("g-1", 4, minutes(1)), 2));
  EXPECT_THAT(Names(), IsEmpty()) << "one of its pods has begun to wait again";
}

TEST_F(WaitingJobsTest, TheNumberInLineIsBounded) {
  for (int i = 0; i < 200; ++i) state.UpsertPod(Unschedulable("p" + std::to_string(i), 1));
  EXPECT_EQ(InLine().size(), kMostJobsInLine);
}

TEST_F(WaitingJobsTest, TheClusterHasItsGpusItsJobsAndWhereTheyMayGo) {
  state.UpsertPod(OnNode(MakeGpuPod("a", 4), "n1"));
  state.UpsertPod(OnNode(Member(MakeGpuPod("g-0", 2), 2), "n1"));
  state.UpsertPod(OnNode(Member(MakeGpuPod("g-1", 2), 2), "n2"));
  state.UpsertPod(OnNode(MakePod("web", {Gpus(0), Cores(1), GiB(1)}), "cpu"));
  state.UpsertPod(Unschedulable("big", 8));
  Pod bound_to_n2 = Unschedulable("choosy", 8);
  auto waiting = std::make_shared<Waiting>(*bound_to_n2.waiting);
  auto selection = std::make_shared<NodeSelection>();
  selection->node_selector = {{"zone", "z"}};
  waiting->selection = selection;
  bound_to_n2.waiting = waiting;
  state.UpsertPod(bound_to_n2);
  const auto snapshot = state.Snapshot();
  const std::vector<RunningJob> running = RunningJobs(*snapshot);
  const TimeRange soon{kAt.now, kAt.now + hours(1), kAt.now + hours(2)};
  const GpuCluster cluster =
      ToGpuCluster(*snapshot, InLine(), running, settings, kAt.wall, [&](const RunningJob& job) {
        return job.name == "team/a" ? std::optional(soon) : std::nullopt;
      });
  ASSERT_EQ(cluster.nodes.size(), 2u);
  ASSERT_EQ(cluster.running.size(), 2u);
  EXPECT_EQ(cluster.running[0].name, "gang team/g");
  EXPECT_FALSE(cluster.running[0].ends);
  EXPECT_EQ(cluster.running[1].ends, soon);
  const GpuNode& n1 = cluster.nodes[0].name == "n1" ? cluster.nodes[0] : cluster.nodes[1];
  EXPECT_EQ(n1.uses.size(), 2u);
  ASSERT_EQ(cluster.waiting.size(), 2u);
  ASSERT_EQ(cluster.node_sets.size(), 2u);
  for (const WaitingGpuJob& job : cluster.waiting) {
    const bool anywhere = job.name == "team/big";
    EXPECT_EQ(cluster.node_sets[job.nodes], std::vector<bool>(2, anywhere)) << job.name;
  }
}

TEST_F(WaitingJobsTest, APodThatStaysKeepsWhatTheTunerMayNotCut) {
  const auto add = [&](const std::string& name, const auto& change) {
    Pod pod = ManagedPod(name, "n1", 9);
    auto fungible = std::make_shared<ManagedContainer>(*pod.fungible);
    change(*fungible);
    pod.requests.main = fungible->requested;
    pod.fungible = std::move(fungible);
    state.UpsertPod(pod);
  };
  add("cut", [](ManagedContainer&) {});
  add("devices", [](ManagedContainer& pod) { pod.devices->safety = DeviceSafety::kUnsafe; });
  add("failed",
      [](ManagedContainer& pod) { pod.unshrinkable_until = kAt.wall + std::chrono::minutes(5); });
  add("lends", [](ManagedContainer& pod) {
    pod.requested.cpu = Cores(2);
    pod.change = {ChangeKind::kLent, OneGpu(9), OneGpu(2), "", kAt.wall};
    pod.change->borrowed = Cores(0);
  });
  add("unread", [](ManagedContainer& pod) { pod.floor.memory = GiB(1); });
  const auto snapshot = state.Snapshot();
  const auto& pods = snapshot->node(*snapshot->Find("n1")).detail->pods;
  ASSERT_EQ(pods.size(), 5u);
  for (const auto& pod : pods) {
    const ResourceVector least = LeastOn(snapshot->node(*snapshot->Find("n1")), pod, kAt.wall);
    const bool keeps = pod->name == "devices" || pod->name == "failed";
    EXPECT_EQ(least.cpu, keeps ? Cores(9) : Cores(3)) << pod->name;
    EXPECT_EQ(least.memory, GiB(4)) << pod->name;
  }
}

}  // namespace
}  // namespace synergy::testing
