// Room ahead for GPU reservations on generated nodes: no pod is cut below its floor, no pod that
// leaves is cut at all, and the job fits when the awaited jobs are gone. Where there is no room,
// the surplus was too small.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "allocation/bind_allocation.h"
#include "allocation/surplus.h"
#include "cluster/state/cluster_state.h"
#include "cluster/state/fit.h"
#include "core/random.h"
#include "engine/reservations/passing_check.h"
#include "engine/tuner/room.h"
#include "support/managed_pods.h"

namespace synergy::testing {
namespace {

constexpr Moment kAt{Instant(std::chrono::hours(100)), WallTime(std::chrono::hours(500))};

// A node of 12 cores with up to three pods, and a job that will have a GPU there.
struct Case {
  ClusterState state;
  std::vector<Pod> pods;
  GpuReservation next;

  explicit Case(Random& random) {
    state.UpsertNode(NodeOfFour("n1"));
    int64_t left = 12;
    const uint64_t count = 1 + random.Below(3);
    for (uint64_t i = 0; i < count; ++i) {
      const std::string profile = random.Below(2) == 0 ? "sensitive" : "insensitive";
      const int64_t floor = profile == "sensitive" ? 3 : 1;
      const auto others = static_cast<int64_t>(3 * (count - i - 1));
      if (left - others < floor) break;
      const int64_t cores =
          floor +
          static_cast<int64_t>(random.Below(static_cast<uint64_t>(left - others - floor + 1)));
      left -= cores;
      pods.push_back(ManagedPod("p" + std::to_string(i), "n1", cores, profile));
      if (random.Below(3) == 0) next.waits_for.push_back(JobOf(pods.back()));
      state.UpsertPod(pods.back());
    }
    next.job = "team/next";
    next.places = {{"n1", Gpus(1), MilliCpu(static_cast<int64_t>(random.Below(12'001))),
                    GiB(static_cast<int64_t>(random.Below(64)))}};
  }

  bool Leaves(const Pod& pod) const {
    return std::find(next.waits_for.begin(), next.waits_for.end(), JobOf(pod)) !=
           next.waits_for.end();
  }
};

TEST(RoomAheadProperty, TheJobFitsWhenTheAwaitedJobsAreGoneAndNoFloorIsTouched) {
  const FakeProfileCatalog profiles = TwoProfiles();
  const TunerMemory memory;
  size_t cut = 0;
  size_t none = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Case made(random);
    const GpuReservation::Place& place = made.next.places.front();
    const auto snapshot = made.state.Snapshot();
    const std::optional<RoomPlan> plan =
        RoomAhead(*snapshot, *snapshot->Find("n1"), {&made.next},
                  {profiles, memory, kAt, std::chrono::minutes(5)});
    if (!plan) {
      ++none;
      ResourceVector most = {Gpus(4), Cores(12), GiB(64)};
      for (const Pod& pod : made.pods) {
        if (!made.Leaves(pod)) most -= pod.requests.main - Surplus(pod, kAt.wall);
      }
      ASSERT_FALSE((ResourceVector{Gpus(1), place.cpu, place.memory}.FitsWithin(most)));
      continue;
    }
    for (size_t i = 0; i < plan->amounts.size(); ++i) {
      const Pod& pod = *plan->node_shares.pods[i];
      const ResourceVector& amounts = plan->amounts[i];
      const ResourceVector& had = pod.fungible->requested;
      if (amounts == had) continue;
      ++cut;
      ASSERT_FALSE(made.Leaves(pod));
      ASSERT_EQ(LargerOf(amounts, pod.fungible->floor), amounts);
      ASSERT_EQ(LesserOf(amounts, had), amounts);
      made.state.UpsertPod(WithAllocation(pod, amounts));
    }
    for (const Pod& pod : made.pods) {
      if (made.Leaves(pod)) made.state.RemovePod(pod.uid);
    }
    const auto then = made.state.Snapshot();
    const Pod next = MakePod("next", {Gpus(1), place.cpu, place.memory});
    ASSERT_TRUE(CheckFit(next, then->node(*then->Find("n1"))).none());
  }
  EXPECT_GT(cut, 200u);
  EXPECT_GT(none, 200u);
}

}  // namespace
}  // namespace synergy::testing
