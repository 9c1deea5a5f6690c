#include "engine/reservations/gpu_reservations.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Instant kNow{hours(100)};

std::vector<ResourceVector> OfGpus(const std::vector<Gpus>& pods) {
  std::vector<ResourceVector> amounts;
  for (const Gpus gpus : pods) amounts.push_back({gpus, MilliCpu(0), Bytes(0)});
  return amounts;
}

// Nodes of 8 GPUs, n1 and n2; job "large" wants all of one and has waited for an hour.
class GpuReservationsTest : public ::testing::Test {
 protected:
  GpuReservationsTest() {
    cluster.products = {ReservationSettings{}};
    for (const char* name : {"n1", "n2"})
      cluster.nodes.push_back({.name = name, .gpus = Gpus(8), .uses = {}});
    cluster.node_sets = {{true, true}};
    HaveWaiting("large", {Gpus(8)}, hours(1));
  }

  void HaveRunning(const std::string& name, size_t node, int64_t gpus,
                   std::optional<Duration> left) {
    std::optional<TimeRange> ends;
    if (left) ends = {kNow + *left / 2, kNow + *left, kNow + 2 * *left};
    cluster.running.push_back({name, ends});
    cluster.nodes[node].uses.push_back({cluster.running.size() - 1, Gpus(gpus)});
  }

  void HaveWaiting(const std::string& name, const std::vector<Gpus>& pods, Duration waited) {
    cluster.waiting.push_back({.name = name, .since = kNow - waited, .pods = OfGpus(pods)});
  }

  // Both nodes have 32 cores and 64 GiB, of which what runs keeps these.
  void HaveCpuAndMemory(const std::vector<std::vector<ResourceVector>>& kept) {
    for (size_t node = 0; node < kept.size(); ++node) {
      cluster.nodes[node].cpu = Cores(32);
      cluster.nodes[node].memory = GiB(64);
      for (size_t use = 0; use < kept[node].size(); ++use) {
        cluster.nodes[node].uses[use].cpu = kept[node][use].cpu;
        cluster.nodes[node].uses[use].memory = kept[node][use].memory;
      }
    }
  }

  // n1 is full for three hours: a for one, b for three; n2 for four, with one GPU free.
  void HaveBusyNodes() {
    HaveRunning("a", 0, 4, hours(1));
    HaveRunning("b", 0, 4, hours(3));
    HaveRunning("c", 1, 7, hours(4));
  }

  ReservationPlan Plan() { return PlanReservations(cluster, before, kNow); }

  ReservationOutcome OutcomeOfLarge() { return Plan().outcomes.front(); }

  Passing PassingOf(const PassingPod& pod, Gpus free, std::vector<HeldGpus> held) {
    const auto plan = Plan();
    return MayTake(pod, plan.reservations, "n1", free, held, kNow).passing;
  }

  GpuCluster cluster;
  std::vector<GpuReservation> before;
};

TEST_F(GpuReservationsTest, IsWhereTheGpusAreFreeSoonest) {
  HaveBusyNodes();
  const ReservationPlan plan = Plan();
  ASSERT_EQ(plan.reservations.size(), 1u);
  const GpuReservation& reservation = plan.reservations.front();
  EXPECT_EQ(reservation.job, "large");
  EXPECT_EQ(reservation.places, (std::vector<GpuReservation::Place>{{"n1", Gpus(8)}}));
  EXPECT_EQ(reservation.starts, (TimeRange{kNow + minutes(90), kNow + hours(3), kNow + hours(6)}));
  EXPECT_EQ(reservation.waits_for, (std::vector<std::string>{"a", "b"}));
}

TEST_F(GpuReservationsTest, CountsOnNoJobWithoutAKnownEnd) {
  HaveRunning("a", 0, 1, std::nullopt);
  HaveRunning("c", 1, 8, hours(9));
  EXPECT_EQ(Plan().reservations.front().places.front().node, "n2");
  HaveRunning("d", 1, 0, std::nullopt);
  cluster.running[1].ends.reset();
  EXPECT_EQ(OutcomeOfLarge(), ReservationOutcome::kNoDates);
}

TEST_F(GpuReservationsTest, AreForJobsThatHaveWaitedForLongEnough) {
  HaveBusyNodes();
  cluster.products.front()->after = hours(2);
  EXPECT_EQ(OutcomeOfLarge(), ReservationOutcome::kNotYet);
  cluster.products.front()->after = hours(1);
  cluster.products.front()->least_gpus = Gpus(9);
  EXPECT_EQ(OutcomeOfLarge(), ReservationOutcome::kFewGpus);
  cluster.products.front()->least_gpus = Gpus(8);
  cluster.waiting.front().expects_nodes = true;
  EXPECT_EQ(OutcomeOfLarge(), ReservationOutcome::kExpectsNodes);
  cluster.waiting.front().expects_nodes = false;
  EXPECT_EQ(OutcomeOfLarge(), ReservationOutcome::kReserved);
  cluster.products.front().reset();
  EXPECT_EQ(OutcomeOfLarge(), ReservationOutcome::kOff);
}

TEST_F(GpuReservationsTest, GoToTheFirstByPriorityThenByWaitingTime) {
  HaveBusyNodes();
  HaveWaiting("older", {Gpus(8)}, hours(2));
  EXPECT_EQ(Plan().reservations.front().job, "older");
  EXPECT_EQ(OutcomeOfLarge(), ReservationOutcome::kOthersHaveAll);
  cluster.waiting.front().priority = 1;
  EXPECT_EQ(Plan().reservations.front().job, "large");
  cluster.products.front()->most = 2;
  const ReservationPlan plan = Plan();
  ASSERT_EQ(plan.reservations.size(), 2u);
  EXPECT_EQ(plan.reservations.back().places.front().node, "n2");
}

TEST_F(GpuReservationsTest, AreNeverForAJobThatAnEmptyClusterCouldNotPlace) {
  cluster.waiting.front().pods = OfGpus({Gpus(9)});
  EXPECT_EQ(OutcomeOfLarge(), ReservationOutcome::kNeverFits);
  cluster.waiting.front().pods = OfGpus({Gpus(8), Gpus(8), Gpus(8)});
  EXPECT_EQ(OutcomeOfLarge(), ReservationOutcome::kNeverFits);
  // Another job gets the reservation that it does not take.
  HaveWaiting("next", {Gpus(8)}, minutes(30));
  EXPECT_EQ(Plan().reservations.front().job, "next");
}

TEST_F(GpuReservationsTest, HaveAPlaceForEachPodOfAGang) {
  HaveBusyNodes();
  cluster.waiting.front().pods = OfGpus({Gpus(4), Gpus(4), Gpus(2)});
  const ReservationPlan plan = Plan();
  ASSERT_EQ(plan.reservations.size(), 1u);
  EXPECT_EQ(plan.reservations.front().places,
            (std::vector<GpuReservation::Place>{{"n1", Gpus(8)}, {"n2", Gpus(2)}}));
  EXPECT_EQ(plan.reservations.front().starts.likely, kNow + hours(4));
}

TEST_F(GpuReservationsTest, LeaveFreeGpusToOthersUntilTheStart) {
  // large needs four GPUs: those of a; the free one is not needed.
  HaveRunning("a", 0, 7, hours(1));
  HaveRunning("c", 1, 8, hours(9));
  cluster.waiting.front().pods = OfGpus({Gpus(4)});
  EXPECT_EQ(PassingOf({.job = "x", .gpus = Gpus(1)}, Gpus(1), {{"a", Gpus(7)}}),
            Passing::kLeavesEnough);
  // a has ended since, four GPUs are kept.
  EXPECT_EQ(PassingOf({.job = "x", .gpus = Gpus(4)}, Gpus(8), {}), Passing::kLeavesEnough);
  EXPECT_EQ(PassingOf({.job = "x", .gpus = Gpus(5)}, Gpus(8), {}), Passing::kRefused);
}

TEST_F(GpuReservationsTest, LetPassWhatEndsBeforeTheEarliestStart) {
  HaveBusyNodes();
  const std::vector<HeldGpus> held = {{"b", Gpus(4)}};  // a has ended
  PassingPod pod{.job = "x", .gpus = Gpus(4)};
  EXPECT_EQ(PassingOf(pod, Gpus(4), held), Passing::kRefused);
  pod.longest = minutes(90);
  EXPECT_EQ(PassingOf(pod, Gpus(4), held), Passing::kEndsInTime);
  pod.longest = minutes(91);
  EXPECT_EQ(PassingOf(pod, Gpus(4), held), Passing::kRefused);
  pod.priority = 1;
  EXPECT_EQ(PassingOf(pod, Gpus(4), held), Passing::kHigherPriority);
  pod.priority = 0;
  pod.has_no_other_node = true;
  EXPECT_EQ(PassingOf(pod, Gpus(4), held), Passing::kNoOtherNode);
  EXPECT_EQ(PassingOf({.job = "large", .gpus = Gpus(4)}, Gpus(4), held), Passing::kNotReserved);
}

TEST_F(GpuReservationsTest, AreNotCountedTwiceWhereTwoWaitForOneJob) {
  // n1: a ends with 4 GPUs, 4 are free: both jobs wait for a.
  HaveRunning("a", 0, 4, hours(1));
  HaveRunning("c", 1, 8, std::nullopt);
  cluster.products.front()->most = 2;
  cluster.waiting.front().pods = OfGpus({Gpus(3)});
  HaveWaiting("next", {Gpus(5)}, minutes(30));
  cluster.nodes[0].uses.push_back({1, Gpus(2)});  // c has two of the free ones
  const ReservationPlan none = Plan();
  EXPECT_EQ(none.outcomes[1], ReservationOutcome::kNoDates);
  cluster.nodes[0].uses.pop_back();
  EXPECT_EQ(Plan().reservations.size(), 2u);
  EXPECT_EQ(PassingOf({.job = "x", .gpus = Gpus(1)}, Gpus(4), {{"a", Gpus(4)}}), Passing::kRefused);
}

TEST_F(GpuReservationsTest, StayWhereTheyAreUnlessOtherNodesSaveEnough) {
  HaveBusyNodes();
  before = Plan().reservations;
  cluster.running[2].ends = {kNow + hours(1), kNow + minutes(150), kNow + hours(4)};
  EXPECT_EQ(Plan().reservations.front().places.front().node, "n1");
  cluster.running[2].ends->likely = kNow + minutes(144);
  EXPECT_EQ(Plan().reservations.front().places.front().node, "n2");
  // A node that takes no pods is left at once.
  cluster.running[2].ends->likely = kNow + hours(4);
  cluster.nodes[0].takes_pods = false;
  EXPECT_EQ(Plan().reservations.front().places.front().node, "n2");
}

TEST_F(GpuReservationsTest, StartNowAtTheSoonestWhereAJobIsOverdue) {
  HaveRunning("a", 0, 8, hours(1));
  HaveRunning("c", 1, 8, std::nullopt);
  cluster.running[0].ends = {kNow - hours(2), kNow - hours(1), kNow - minutes(1)};
  const ReservationPlan plan = Plan();
  EXPECT_EQ(plan.reservations.front().starts, (TimeRange{kNow, kNow, kNow}));
  EXPECT_EQ(plan.reservations.front().waits_for, (std::vector<std::string>{"a"}));
}

TEST_F(GpuReservationsTest, IncludeTheCpuAndMemoryThatTheJobNeedsAtLeast) {
  HaveRunning("a", 0, 4, hours(1));
  HaveRunning("b", 0, 2, hours(3));
  HaveRunning("c", 1, 8, hours(2));
  cluster.waiting.front().pods = {{Gpus(4), Cores(12), GiB(16)}};
  HaveCpuAndMemory({{{Gpus(4), Cores(8), GiB(8)}, {Gpus(2), Cores(12), GiB(8)}},
                    {{Gpus(8), Cores(20), GiB(40)}}});
  const GpuReservation first = Plan().reservations.front();
  EXPECT_EQ(first.places,
            (std::vector<GpuReservation::Place>{{"n1", Gpus(4), Cores(12), GiB(16)}}));
  EXPECT_EQ(first.waits_for, (std::vector<std::string>{"a"}));
  // Without b's cores there are 11 on n1 when a is done.
  cluster.nodes[0].uses[1].cpu = Cores(21);
  EXPECT_EQ(Plan().reservations.front().places.front().node, "n2");
  cluster.running[2].ends.reset();
  const GpuReservation later = Plan().reservations.front();
  EXPECT_EQ(later.places.front().node, "n1");
  EXPECT_EQ(later.starts.likely, kNow + hours(3));
  // The GPUs are a's and free ones, or b's; the cores are of both.
  EXPECT_EQ(later.waits_for, (std::vector<std::string>{"a", "b"}));
  cluster.running[1].ends.reset();
  EXPECT_EQ(OutcomeOfLarge(), ReservationOutcome::kNoDates);
  cluster.waiting.front().pods = {{Gpus(4), Cores(33), GiB(16)}};
  EXPECT_EQ(OutcomeOfLarge(), ReservationOutcome::kNeverFits);
}

TEST_F(GpuReservationsTest, WaitForNoOtherJobWhereTheAwaitedOnesLeaveEnoughCpu) {
  HaveRunning("a", 0, 4, hours(3));
  HaveRunning("b", 0, 4, hours(1));
  HaveRunning("c", 1, 8, hours(9));
  cluster.waiting.front().pods = {{Gpus(4), Cores(12), GiB(16)}};
  HaveCpuAndMemory({{{Gpus(4), Cores(16), GiB(8)}, {Gpus(4), Cores(4), GiB(8)}}, {{}}});
  const ReservationPlan plan = Plan();
  EXPECT_EQ(plan.reservations.front().waits_for, (std::vector<std::string>{"b"}));
  // Another job finds what is left: four free cores, and a's sixteen.
  cluster.products.front()->most = 2;
  HaveWaiting("next", {Gpus(4)}, minutes(30));
  cluster.waiting.back().pods.front().cpu = Cores(21);
  EXPECT_EQ(Plan().reservations.back().places.front().node, "n2");
  cluster.waiting.back().pods.front().cpu = Cores(20);
  EXPECT_EQ(Plan().reservations.back().places.front().node, "n1");
}

TEST_F(GpuReservationsTest, AreCountedByProduct) {
  HaveBusyNodes();
  cluster.products.push_back(ReservationSettings{});
  cluster.nodes[1].product = 1;
  HaveWaiting("second", {Gpus(8)}, minutes(50));
  const ReservationPlan plan = Plan();
  ASSERT_EQ(plan.reservations.size(), 2u);
  EXPECT_EQ(plan.reservations.front().product, 0u);
  EXPECT_EQ(plan.reservations.back().product, 1u);
  cluster.products.back().reset();
  EXPECT_EQ(Plan().reservations.size(), 1u);
}

}  // namespace
}  // namespace synergy::testing
