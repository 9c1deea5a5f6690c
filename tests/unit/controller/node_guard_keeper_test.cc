#include "controller/preemption/node_guard_keeper.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/silent_log.h"

namespace synergy::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Nodes whose guards belong to Synergy once it has written them.
class GuardedNodes final : public kube::NodeGuardApi {
 public:
  Result<> Write(const NodeGuardChange& change, std::stop_token) override {
    written.push_back(change.node);
    if (refusal) return Fail(*refusal);
    GuardedNode node = *nodes->Find(change.node);
    node.guards.fill(change.added.empty() ? NodeGuard::kNone : NodeGuard::kOurs);
    nodes->Upsert(node);
    return {};
  }

  std::vector<std::string> written;  // names of nodes
  std::optional<Error> refusal;
  KeyedStore<GuardedNode>* nodes = nullptr;
};

class NodeGuardKeeperTest : public ::testing::Test {
 protected:
  NodeGuardKeeperTest() {
    api.nodes = &keeper.nodes();
    for (const char* name : {"n1", "n2"}) keeper.nodes().Upsert({.name = name});
  }
  std::vector<std::string> WrittenFor(std::vector<GpuReservation::Place> places) {
    GpuReservation reservation;
    reservation.places = std::move(places);
    keeper.Step(std::vector{reservation}, {});
    return std::exchange(api.written, {});
  }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  bool acts = true;
  GuardedNodes api;
  NodeGuardKeeper keeper{api, [this] { return acts; }, log};
};

TEST_F(NodeGuardKeeperTest, WritesOnlyWhatChanges) {
  EXPECT_THAT(WrittenFor({{"n1", Gpus(4)}}), ElementsAre("n1"));
  EXPECT_THAT(WrittenFor({{"n1", Gpus(4)}}), IsEmpty());
  EXPECT_THAT(WrittenFor({{"n2", Gpus(4)}}), ElementsAre("n1", "n2"));
  EXPECT_THAT(WrittenFor({}), ElementsAre("n2"));
}

TEST_F(NodeGuardKeeperTest, TriesAgainWhatFailed) {
  api.refusal = Error{ErrorCode::kConflict, "the node has changed"};
  EXPECT_THAT(WrittenFor({{"n1", Gpus(4)}}), ElementsAre("n1"));
  EXPECT_THAT(WrittenFor({{"n1", Gpus(4)}}), ElementsAre("n1"));
}

TEST_F(NodeGuardKeeperTest, WritesNothingWithoutTheLead) {
  acts = false;
  EXPECT_THAT(WrittenFor({{"n1", Gpus(4)}}), IsEmpty());
}

TEST_F(NodeGuardKeeperTest, WritesAFewNodesAtATime) {
  std::vector<GpuReservation::Place> places;
  for (size_t i = 0; i <= NodeGuardKeeper::kMostWrites; ++i) {
    places.push_back({"m" + std::to_string(i), Gpus(1)});
    keeper.nodes().Upsert({.name = places.back().node});
  }
  EXPECT_THAT(WrittenFor(places), SizeIs(NodeGuardKeeper::kMostWrites));
  EXPECT_THAT(WrittenFor(places), SizeIs(1));
}

}  // namespace
}  // namespace synergy::controller
