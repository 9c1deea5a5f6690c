#include "queues/round_workload.h"

#include <chrono>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::wire {
namespace {

using Doing = Rounds::Doing;
using std::chrono::hours;

constexpr WallTime kQuotaSince{Duration(hours(10))};

// Returns a workload of two pods, with quota.
Workload Admitted() {
  Workload workload;
  workload.pods = 2;
  workload.has_quota = true;
  workload.quota_since = kQuotaSince;
  return workload;
}

QueuedPod PodThat(bool has_node, bool running, WallTime since = {}) {
  QueuedPod pod;
  pod.has_gpus = true;
  pod.has_node = has_node;
  pod.running = running;
  pod.since = since;
  return pod;
}

WorkloadPods Count(const std::vector<QueuedPod>& pods) {
  WorkloadPods counts;
  for (const QueuedPod& pod : pods) counts.Add(pod);
  return counts;
}

TEST(RoundWorkload, RunsWhenAllItsPodsDo) {
  const WallTime later = kQuotaSince + hours(1);
  const WorkloadPods both = Count({PodThat(true, true, later), PodThat(true, true, kQuotaSince)});
  EXPECT_EQ(DoingOf(Admitted(), both), Doing::kRan);
  EXPECT_EQ(DoingSince(Admitted(), both), later);
  const WorkloadPods one = Count({PodThat(true, true), PodThat(true, false)});
  EXPECT_EQ(DoingOf(Admitted(), one), Doing::kNeither) << "it starts";
}

TEST(RoundWorkload, QuotaThatWaitsForAnAdmissionCheckIsNoService) {
  Workload workload = Admitted();
  workload.checks = {{.name = "provision", .state = "Pending", .since = kQuotaSince}};
  const WallTime much_later = kQuotaSince + hours(2);
  EXPECT_EQ(DoingOf(workload, {}, much_later), Doing::kNeither);
  EXPECT_EQ(ToRoundWorkload({}, workload, {}, much_later).started, much_later);
  workload.checks.front() = {.name = "provision", .state = "Ready", .since = much_later};
  EXPECT_EQ(DoingOf(workload, {}, much_later + std::chrono::seconds(1)), Doing::kNeither);
  EXPECT_EQ(DoingOf(workload, {}, much_later + kMostStart), Doing::kRan);
  EXPECT_EQ(DoingSince(workload, {}, much_later + kMostStart), much_later + kMostStart);
  EXPECT_EQ(ToRoundWorkload({}, workload, {}, much_later).started, much_later);
}

TEST(RoundWorkload, WaitsForNodesWhenItHasQuotaAndAPodWithoutOne) {
  const WorkloadPods pods = Count({PodThat(true, true), PodThat(false, false)});
  EXPECT_EQ(DoingOf(Admitted(), pods), Doing::kUnplaced);
  EXPECT_EQ(DoingSince(Admitted(), pods), kQuotaSince);
  EXPECT_EQ(DoingOf(Admitted(), {}), Doing::kNeither) << "its pods are yet to be made";
  const WallTime soon = kQuotaSince + kMostStart;
  EXPECT_EQ(DoingOf(Admitted(), pods, soon), Doing::kUnplaced);
  EXPECT_EQ(DoingOf(Admitted(), {}, soon - std::chrono::seconds(1)), Doing::kNeither);
  EXPECT_EQ(DoingOf(Admitted(), {}, soon), Doing::kRan) << "somebody took their annotations away";
  EXPECT_EQ(DoingSince(Admitted(), {}, soon), soon);
  QueuedPod launcher = PodThat(false, false);
  launcher.has_gpus = false;
  EXPECT_EQ(DoingOf(Admitted(), Count({launcher})), Doing::kNeither);
  Workload leaves = Admitted();
  leaves.evicted = true;
  EXPECT_EQ(DoingOf(leaves, pods), Doing::kNeither);
}

TEST(RoundWorkload, WaitsForItsTurnWithoutQuotaUnlessItsUserStoppedIt) {
  Workload workload = Admitted();
  workload.has_quota = false;
  EXPECT_EQ(DoingOf(workload, {}), Doing::kWaited);
  EXPECT_EQ(DoingSince(workload, {}), kQuotaSince);
  workload.active = false;
  EXPECT_EQ(DoingOf(workload, {}), Doing::kNeither);
}

TEST(RoundWorkload, SkipsAWorkloadInBackoff) {
  const WallTime now = kQuotaSince;
  RoundPolicy policy;
  policy.least_priority = -10;
  policy.most_priority = 10;
  Workload workload = Admitted();
  workload.requeue_at = now + std::chrono::minutes(10);
  EXPECT_FALSE(InBackoff(workload, now)) << "it has its quota again";
  workload.has_quota = false;
  EXPECT_TRUE(InBackoff(workload, now));
  EXPECT_TRUE(ToRoundWorkload(policy, workload, {}, now).left_alone);
  EXPECT_EQ(DoingOf(workload, {}, now), Doing::kNeither);
  const WallTime later = workload.requeue_at - std::chrono::seconds(1);
  EXPECT_FALSE(ToRoundWorkload(policy, workload, {}, later).left_alone)
      << "our own checks send it back for a second";
  EXPECT_EQ(DoingOf(workload, {}, later), Doing::kWaited);
}

TEST(RoundWorkload, HasTheBandThatItsPriorityIs) {
  Workload workload;
  workload.priority = 7;
  EXPECT_EQ(BandOf(workload), Band::kNext);
  workload.note = RoundNote{.own = 8, .written = 7};
  EXPECT_EQ(BandOf(workload), Band::kWaits);
  workload.note = RoundNote{.own = 6, .written = 7};
  EXPECT_EQ(BandOf(workload), Band::kRuns);
  EXPECT_EQ(PriorityOf(6, Band::kRuns), 7);
}

TEST(RoundWorkload, SkipsAWorkloadWhoseBandsWouldLeaveTheRange) {
  RoundPolicy policy;
  policy.most_priority = 10;
  Workload workload = Admitted();
  workload.priority = 9;
  EXPECT_FALSE(ToRoundWorkload(policy, workload, {}, kQuotaSince).left_alone);
  workload.priority = 10;
  EXPECT_TRUE(ToRoundWorkload(policy, workload, {}, kQuotaSince).left_alone);
}

TEST(RoundWorkload, StatusOfATrainingCountsForAWhileInItsRun) {
  const WallTime since = kQuotaSince;
  const WallTime now = since + hours(5);
  const auto reported_at = [&](WallTime at, std::optional<Seconds> remaining = Seconds(60)) {
    return ReportedAt({.remaining = remaining, .percent = 40, .at = at}, since, now);
  };
  const auto second = std::chrono::seconds(1);
  EXPECT_EQ(reported_at(now - second), now - second);
  EXPECT_EQ(reported_at(now - kLongestSilence), now - kLongestSilence);
  EXPECT_EQ(reported_at(now - kLongestSilence - second), std::nullopt);
  EXPECT_EQ(reported_at(now + kMostAhead), now) << "clocks differ a little";
  EXPECT_EQ(reported_at(now + kMostAhead + second), std::nullopt);
  EXPECT_EQ(reported_at(WallTime::max()), std::nullopt);
  EXPECT_EQ(reported_at(WallTime::min()), std::nullopt);
  EXPECT_EQ(reported_at(now, std::nullopt), std::nullopt)
      << "how much is done says nothing of time";
  EXPECT_EQ(ReportedAt({.remaining = Seconds(60), .at = since - second}, since, since + second),
            std::nullopt)
      << "in another run";
}

}  // namespace
}  // namespace synergy::wire
