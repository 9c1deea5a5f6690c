#include "engine/reservations/passing_check.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/annotations.h"
#include "cluster/node_selection.h"
#include "cluster/state/cluster_state.h"
#include "engine/reservations/published_reservation.h"
#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Instant kPresent{hours(100)};

// Nodes n1 and n2 of 8 GPUs. On n1 job "team/a" has 4, until the start of "team/big" in an hour.
class PassingCheckTest : public ::testing::Test {
 protected:
  PassingCheckTest() {
    for (const char* name : {"n1", "n2"}) AddNode(name);
    state.UpsertPod(OnNode(MakeGpuPod("a", 4), "n1"));
    GpuReservation reservation;
    reservation.job = "team/big";
    reservation.places = {{"n1", Gpus(8)}};
    reservation.starts = {kPresent + minutes(40), kPresent + hours(1), kPresent + hours(2)};
    reservation.waits_for = {"team/a"};
    terms.reservations = {reservation};
    terms.now = kPresent;
  }

  void AddNode(const std::string& name) {
    state.UpsertNode(MakeNode(name, {Gpus(8), Cores(64), GiB(64)}));
  }
  bool MayGo(const Pod& pod, const std::string& node = "n1") {
    terms.gpus = terms.largest = pod.requests.main.gpus;
    const auto snapshot = state.Snapshot();
    PassingCheck check(*snapshot, pod, terms);
    return check.RefusedBy(snapshot->node(*snapshot->Find(node))) == nullptr;
  }

  static Pod MakeMember(std::string name, int64_t gpus) {
    Pod pod = MakeGpuPod(std::move(name), gpus);
    pod.gang = std::make_shared<const Gang>(Gang{.name = "team/g", .size = 2, .problem = {}});
    return pod;
  }
  std::optional<Gpus> OpenTo(const Pod& pod, const std::string& node = "n1") {
    terms.gpus = terms.largest = pod.requests.main.gpus;
    const auto snapshot = state.Snapshot();
    PassingCheck check(*snapshot, pod, terms);
    const std::optional<OpenPart> open = check.OpenTo(snapshot->node(*snapshot->Find(node)));
    return open ? std::optional(open->gpus) : std::nullopt;
  }

  ClusterState state;
  PassingTerms terms;
};

TEST_F(PassingCheckTest, PodsWithoutAKnownEndKeepOffReservedGpus) {
  EXPECT_FALSE(MayGo(MakeGpuPod("p", 1)));
  EXPECT_TRUE(MayGo(MakeGpuPod("p", 1), "n2"));
  terms.reservations.clear();
  EXPECT_TRUE(MayGo(MakeGpuPod("p", 1)));
}

TEST_F(PassingCheckTest, PodsThatEndInTimePass) {
  terms.longest = minutes(40);
  EXPECT_TRUE(MayGo(MakeGpuPod("p", 1)));
  terms.longest = minutes(41);
  EXPECT_FALSE(MayGo(MakeGpuPod("p", 1)));
}

TEST_F(PassingCheckTest, GpusThatTheReservationDoesNotNeedStayOpen) {
  terms.reservations.front().places = {{"n1", Gpus(6)}};
  EXPECT_TRUE(MayGo(MakeGpuPod("p", 2)));
  EXPECT_FALSE(MayGo(MakeGpuPod("p", 3)));
}

TEST_F(PassingCheckTest, ItsOwnJobAndHigherPrioritiesPass) {
  EXPECT_TRUE(MayGo(MakeGpuPod("big", 4)));
  Pod urgent = MakeGpuPod("p", 1);
  urgent.priority = 1;
  EXPECT_TRUE(MayGo(urgent));
}

TEST_F(PassingCheckTest, APodsOnlyPossibleNodeIsNeverRefused) {
  Pod pod = MakeGpuPod("p", 1);
  auto selection = std::make_shared<NodeSelection>();
  selection->terms = {{{.key = "metadata.name",
                        .op = NodeRequirement::Operator::kIn,
                        .values = {"n1"},
                        .is_field = true}}};
  selection->has_affinity = true;
  auto waiting = std::make_shared<Waiting>();
  waiting->selection = selection;
  pod.waiting = waiting;
  EXPECT_TRUE(MayGo(pod));
  selection->terms[0][0].values.emplace_back("n2");
  EXPECT_FALSE(MayGo(pod));
}

// A node that offers too little of what the pod requests is not possible.
TEST_F(PassingCheckTest, TheOnlyNodeThatIsLargeEnoughIsThePodsOnlyOne) {
  state.UpsertNode(MakeNode("n1", {Gpus(8), Cores(64), GiB(512)}));
  Pod large = MakeGpuPod("p", 1);
  EXPECT_FALSE(MayGo(large));
  large.requests.main.memory = GiB(100);
  EXPECT_TRUE(MayGo(large));
  Pod special = MakeGpuPod("p", 1);
  special.requests.other.Set("example.com/fabric", 1);
  EXPECT_TRUE(MayGo(special));  // neither node offers it
  Node with = MakeNode("n1", {Gpus(8), Cores(64), GiB(64)});
  with.allocatable.other.Set("example.com/fabric", 1);
  state.UpsertNode(with);
  EXPECT_TRUE(MayGo(special));
  with.name = "n2";
  state.UpsertNode(with);
  EXPECT_FALSE(MayGo(special));
}

TEST_F(PassingCheckTest, AGangIsRefusedUnlessAPartOfItRunsThere) {
  EXPECT_EQ(JobOf(MakeMember("g-0", 1)), "gang team/g");
  EXPECT_FALSE(MayGo(MakeMember("g-0", 1)));
  state.UpsertPod(OnNode(MakeMember("g-1", 1), "n1"));
  EXPECT_TRUE(MayGo(MakeMember("g-0", 1)));
  EXPECT_EQ(OpenTo(MakeMember("g-0", 1)), std::nullopt);
}

TEST_F(PassingCheckTest, AllMembersOfAGangTogetherTakeNoMoreThanIsLeft) {
  terms.reservations.front().places = {{"n1", Gpus(6)}};
  EXPECT_TRUE(MayGo(MakeMember("g-0", 2)));
  EXPECT_FALSE(MayGo(MakeMember("g-0", 3)));
  EXPECT_EQ(OpenTo(MakeMember("g-0", 1)), Gpus(2));
  EXPECT_EQ(OpenTo(MakeMember("g-0", 1), "n2"), std::nullopt);
  terms.longest = minutes(40);
  EXPECT_EQ(OpenTo(MakeMember("g-0", 1)), std::nullopt);
}

TEST_F(PassingCheckTest, AGangKeepsThePlacesThatItHolds) {
  Pod held = MakeMember("g-1", 3);
  held.waiting = std::make_shared<const Waiting>();
  state.UpsertPod(OnNode(held, "n1"));
  EXPECT_EQ(OpenTo(MakeMember("g-0", 1)), Gpus(3));
  EXPECT_TRUE(MayGo(MakeMember("g-0", 3)));
  EXPECT_FALSE(MayGo(MakeMember("g-0", 4)));
}

// Each of two gangs has a whole node and a part of a third one, which they share.
TEST_F(PassingCheckTest, GangsThatShareAReservedNodeLeaveEachOtherTheirParts) {
  GpuReservation own = terms.reservations.front();
  own.job = "gang team/g";
  own.places = {{"n1", Gpus(4)}, {"n2", Gpus(8)}};
  terms.reservations.front().places = {{"n1", Gpus(4)}};
  terms.reservations.push_back(own);
  EXPECT_EQ(OpenTo(MakeMember("g-0", 1)), Gpus(4));
  EXPECT_EQ(OpenTo(MakeMember("g-0", 1), "n2"), std::nullopt);
}

TEST_F(PassingCheckTest, PodsOfKueueAreNotSubjectToReservations) {
  Pod pod = MakeGpuPod("p", 1);
  EXPECT_TRUE(IsSubjectToReservations(pod));
  pod.labels = {{std::string(annotations::kKueuePodSet), "main"}};
  EXPECT_FALSE(IsSubjectToReservations(pod));
}

TEST_F(PassingCheckTest, AnEvictionThatWouldNotLetThePodInIsDropped) {
  state.UpsertPod(OnNode(MakeGpuPod("low", 4), "n1"));
  state.UpsertPod(OnNode(MakeGpuPod("low2", 4), "n2"));
  const auto snapshot = state.Snapshot();
  const auto chosen_of = [&](const Pod& pod) {
    std::vector<NodeVictims> chosen = {{"n1", {{state.FindPod("low")}, 0}},
                                       {"n2", {{state.FindPod("low2")}, 0}}};
    terms.gpus = terms.largest = pod.requests.main.gpus;
    DropReserved(*snapshot, pod, terms, chosen);
    std::string nodes;
    for (const NodeVictims& each : chosen) nodes += each.node + ' ';
    return nodes;
  };
  EXPECT_EQ(chosen_of(MakeGpuPod("p", 2)), "n2 ");
  Pod urgent = MakeGpuPod("p", 2);
  urgent.priority = 1;
  EXPECT_EQ(chosen_of(urgent), "n1 n2 ");
}

TEST_F(PassingCheckTest, ARefusalNamesTheJobTheTimeAndTheReason) {
  const WallTime wall = WallTime() + hours(24) + minutes(13 * 60 + 20);
  EXPECT_EQ(DescribeRefusal(terms.reservations.front(), terms, wall),
            "GPUs of n1 are reserved for team/big until 14:20 UTC; this pod has no known end");
  terms.longest = hours(3);
  EXPECT_EQ(DescribeRefusal(terms.reservations.front(), terms, wall),
            "GPUs of n1 are reserved for team/big until 14:20 UTC; this pod may not have ended by "
            "14:00 UTC");
}

TEST(PublishedReservationTest, NamesTheStartTheNodesAndTheJobsBefore) {
  const WallTime now = WallTime() + hours(24 * 3 + 13);
  PublishedReservation reservation{.job = "team/big",
                                   .places = {{"gpu-3", Gpus(8)}},
                                   .earliest = now + minutes(50),
                                   .likely = now + minutes(80),
                                   .latest = now + hours(12),
                                   .waits_for = {"team/train-a", "team/train-b"}};
  EXPECT_EQ(DescribeStart(reservation, now),
            "starts about 14:20 UTC (13:50 UTC to 1970-01-05 01:00 UTC) on gpu-3, when "
            "team/train-a and team/train-b are done");
  for (const char* node : {"gpu-4", "gpu-5", "gpu-6", "gpu-7"})
    reservation.places.push_back({node, Gpus(8)});
  reservation.waits_for = {"team/train-a"};
  EXPECT_EQ(DescribeStart(reservation, now),
            "starts about 14:20 UTC (13:50 UTC to 1970-01-05 01:00 UTC) on gpu-3, gpu-4, gpu-5 and "
            "2 more, when team/train-a is done");
}

TEST(PublishedReservationTest, IsTheSameByAnotherProcesssClock) {
  GpuReservation reservation;
  reservation.job = "team/big";
  reservation.places = {{"n1", Gpus(8)}};
  reservation.starts = {kPresent, kPresent + hours(1), kPresent + hours(2)};
  reservation.waits_for.assign(100, "team/a");
  const Moment here{kPresent, WallTime() + hours(5)};
  const PublishedReservation published = Publish(reservation, here);
  EXPECT_EQ(published.waits_for.size(), PublishedReservation::kMostAwaited);
  EXPECT_EQ(published.until, here.wall + minutes(10));
  const Moment there{Instant(hours(7)), WallTime() + hours(6)};
  const GpuReservation read = ToReservation(published, there);
  EXPECT_EQ(read.starts, (TimeRange{there.now - hours(1), there.now, there.now + hours(1)}));
  EXPECT_EQ(read.places, reservation.places);
}

}  // namespace
}  // namespace synergy::testing
