#include "kube/leader_election.h"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support/fake_api_server.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "wire/api/lease.h"

namespace synergy::kube {
namespace {

using std::chrono::seconds;
using synergy::testing::FakeApiServer;
using synergy::testing::FakeClock;

constexpr const char* kLease =
    "/apis/coordination.k8s.io/v1/namespaces/synergy-system/leases/synergy-controller";

class LeaderElectionTest : public ::testing::Test {
 protected:
  LeaderElectionTest() { client_ = std::move(*ApiClient::Create(server_.access())); }

  std::unique_ptr<LeaderElection> Join(const std::string& identity) {
    LeaderElectionOptions options;
    options.lease_namespace = "synergy-system";
    options.name = "synergy-controller";
    options.identity = identity;
    return LeaderElection::Start(*client_, clock_, log_, options);
  }
  // Advances two seconds, and waits until `members` have tried.
  void NextTry(size_t members) {
    clock_.AwaitSleepers(members);
    clock_.Advance(seconds(2));
    clock_.AwaitSleepers(members);
  }

  FakeApiServer server_;
  FakeClock clock_;
  synergy::testing::SilentSink sink_;
  Logger log_{sink_, clock_, LogLevel::kDebug, LogFormat::kText};
  std::unique_ptr<ApiClient> client_;
};

TEST_F(LeaderElectionTest, TheFirstLeads) {
  const auto first = Join("a");
  clock_.AwaitSleepers(1);
  EXPECT_TRUE(first->IsLeader());
  EXPECT_EQ(server_.lease_holder(), "a");
  const auto second = Join("b");
  clock_.AwaitSleepers(2);
  EXPECT_FALSE(second->IsLeader());
  for (int i = 0; i < 10; ++i) NextTry(2);
  EXPECT_TRUE(first->IsLeader());
  EXPECT_FALSE(second->IsLeader());
}

TEST_F(LeaderElectionTest, ALeaderThatEndsLeavesAtOnce) {
  auto first = Join("a");
  clock_.AwaitSleepers(1);
  const auto second = Join("b");
  clock_.AwaitSleepers(2);
  first.reset();
  EXPECT_EQ(server_.lease_holder(), "");
  NextTry(1);
  EXPECT_TRUE(second->IsLeader());
}

TEST_F(LeaderElectionTest, AKilledLeaderIsFollowedWhenItsLeaseIsOver) {
  ASSERT_TRUE(client_->Post(
      "/apis/coordination.k8s.io/v1/namespaces/synergy-system/leases",
      wire::WriteNewLease("synergy-controller", "gone", seconds(10), clock_.WallNow())));
  const auto next = Join("b");
  clock_.AwaitSleepers(1);
  for (int i = 0; i < 4; ++i) NextTry(1);
  EXPECT_FALSE(next->IsLeader());
  NextTry(1);
  EXPECT_TRUE(next->IsLeader());
}

TEST_F(LeaderElectionTest, StandbyKnowsWhenALeaderLedLast) {
  const auto first = Join("a");
  clock_.AwaitSleepers(1);
  EXPECT_EQ(first->LedLast(), clock_.Now());
  const auto second = Join("b");
  clock_.AwaitSleepers(2);
  for (int i = 0; i < 10; ++i) NextTry(2);
  EXPECT_LE(clock_.Now() - second->LedLast(), seconds(2)) << "it is renewed";
}

TEST_F(LeaderElectionTest, OneThatIsNotRenewedHasLedNoMoment) {
  ASSERT_TRUE(client_->Post(
      "/apis/coordination.k8s.io/v1/namespaces/synergy-system/leases",
      wire::WriteNewLease("synergy-controller", "gone", seconds(10), clock_.WallNow())));
  const Instant began = clock_.Now();
  const auto next = Join("b");
  clock_.AwaitSleepers(1);
  for (int i = 0; i < 4; ++i) NextTry(1);
  EXPECT_FALSE(next->IsLeader());
  EXPECT_EQ(next->LedLast(), began);
}

TEST_F(LeaderElectionTest, LeaderThatCannotRenewStopsBeforeOthersMayStart) {
  const auto leader = Join("a");
  clock_.AwaitSleepers(1);
  server_.FailNext("PATCH", "/leases", 503, 100);
  NextTry(1);
  NextTry(1);
  EXPECT_TRUE(leader->IsLeader());
  NextTry(1);
  EXPECT_FALSE(leader->IsLeader());
}

TEST_F(LeaderElectionTest, ADeletedLeaseIsNotTakenWhileItsHolderMayLead) {
  ASSERT_TRUE(client_->Post(
      "/apis/coordination.k8s.io/v1/namespaces/synergy-system/leases",
      wire::WriteNewLease("synergy-controller", "there", seconds(10), clock_.WallNow())));
  const auto next = Join("b");
  clock_.AwaitSleepers(1);
  ASSERT_TRUE(client_->Delete(kLease, "{}"));
  for (int i = 0; i < 4; ++i) NextTry(1);
  EXPECT_FALSE(next->IsLeader());
  NextTry(1);
  EXPECT_TRUE(next->IsLeader());
  ASSERT_TRUE(client_->Delete(kLease, "{}"));
  NextTry(1);
  EXPECT_TRUE(next->IsLeader()) << "it was the holder";
}

TEST_F(LeaderElectionTest, ATermEndsOnlyWhenAnotherReplicaLeads) {
  const auto first = Join("a");
  clock_.AwaitSleepers(1);
  EXPECT_EQ(first->Terms(), 1U);
  server_.FailNext("PATCH", "/leases", 403, 3);
  for (int i = 0; i < 3; ++i) NextTry(1);
  EXPECT_FALSE(first->IsLeader());
  NextTry(1);
  EXPECT_TRUE(first->IsLeader());
  EXPECT_EQ(first->Terms(), 1U) << "no other replica took the lease";

  // A replica that has led and ended leaves the lease like this.
  const auto lease = wire::ReadLease(*client_->Get(kLease));
  ASSERT_TRUE(client_->Patch(kLease, "application/merge-patch+json",
                             wire::WriteLeaseChange(*lease, "", seconds(1), clock_.WallNow())));
  NextTry(1);
  EXPECT_TRUE(first->IsLeader());
  EXPECT_EQ(first->Terms(), 2U);

  // The same, and this process takes the lease with a write whose answer is lost.
  const auto again = wire::ReadLease(*client_->Get(kLease));
  ASSERT_TRUE(client_->Patch(kLease, "application/merge-patch+json",
                             wire::WriteLeaseChange(*again, "", seconds(1), clock_.WallNow())));
  server_.DropNext("PATCH", "/leases", true);
  for (int i = 0; i < 2; ++i) NextTry(1);
  EXPECT_TRUE(first->IsLeader());
  EXPECT_EQ(first->Terms(), 3U);
}

}  // namespace
}  // namespace synergy::kube
