// Tests PlanGang against exhaustive search, on small clusters.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "allocation/gangs/gang_plan.h"
#include "cluster/state/fit.h"
#include "property/random_cluster.h"

namespace synergy::testing {
namespace {

using Members = std::vector<std::shared_ptr<const Pod>>;

std::vector<NodeState> NodesOf(const ClusterSnapshot& snapshot) {
  std::vector<NodeState> nodes;
  for (NodeIndex node = 0; node < snapshot.size(); ++node) nodes.push_back(snapshot.node(node));
  return nodes;
}

bool SomePlacementExists(std::vector<NodeState>& nodes, const Members& members, const MayGo& may_go,
                         size_t next = 0) {
  if (next == members.size()) return true;
  for (NodeIndex place = 0; place < nodes.size(); ++place) {
    NodeState& node = nodes[place];
    if (!may_go(next, place) || !CheckFit(*members[next], node).none()) continue;
    const NodeState before = node;
    node = WithPod(node, members[next]);
    const bool found = SomePlacementExists(nodes, members, may_go, next + 1);
    node = before;
    if (found) return true;
  }
  return false;
}

Pod NamedMember(Pod pod, int64_t number) {
  pod.uid = "member " + std::to_string(number);
  pod.node.clear();
  return pod;
}

GangPlan PlanAnywhere(const ClusterSnapshot& snapshot, const Members& members) {
  return PlanGang(snapshot, members, {}, [](size_t, NodeIndex) { return true; });
}

RC_GTEST_PROP(GangPlanProperty, FindsAPlanForAlikeMembersIfThereIsOne,
              (const RandomCluster& cluster)) {
  const auto snapshot = cluster.Snapshot();
  const Pod shape = *IncomingPod();
  RC_PRE(shape.UsesGpus());
  Members members;
  for (int64_t i = *rc::gen::inRange(1, 5); i > 0; --i) {
    members.push_back(std::make_shared<const Pod>(NamedMember(shape, i)));
  }
  std::vector<NodeState> nodes = NodesOf(*snapshot);
  const GangPlan plan = PlanAnywhere(*snapshot, members);
  const bool found = !plan.places.empty();
  RC_CLASSIFY(found, "fits");
  RC_ASSERT(found == SomePlacementExists(nodes, members, [](size_t, NodeIndex) { return true; }));
}

RC_GTEST_PROP(GangPlanProperty, FindsAPlanForAFewUnlikeMembersIfThereIsOne,
              (const RandomCluster& cluster)) {
  const auto snapshot = cluster.Snapshot();
  Members members;
  std::vector<std::vector<bool>> open;
  for (int64_t i = *rc::gen::inRange(1, 5); i > 0; --i) {
    members.push_back(std::make_shared<const Pod>(NamedMember(*IncomingPod(), i)));
    open.push_back(
        *rc::gen::container<std::vector<bool>>(snapshot->size(), rc::gen::arbitrary<bool>()));
  }
  const auto may_go = [&](size_t member, NodeIndex node) { return open[member][node]; };
  std::vector<NodeState> nodes = NodesOf(*snapshot);
  const GangPlan plan = PlanGang(*snapshot, members, {}, may_go);
  const bool found = !plan.places.empty();
  RC_CLASSIFY(found, "fits");
  RC_ASSERT(found == SomePlacementExists(nodes, members, may_go));
}

RC_GTEST_PROP(GangPlanProperty, NeverGivesANodeMoreThanItHas, (const RandomCluster& cluster)) {
  const auto snapshot = cluster.Snapshot();
  Members members;
  for (int64_t i = *rc::gen::inRange(1, 6); i > 0; --i) {
    members.push_back(std::make_shared<const Pod>(NamedMember(*IncomingPod(), i)));
  }
  const GangPlan plan = PlanAnywhere(*snapshot, members);
  RC_PRE(!plan.places.empty());
  RC_ASSERT(plan.places.size() == members.size());
  std::vector<NodeState> nodes = NodesOf(*snapshot);
  for (size_t i = 0; i < members.size(); ++i) {
    NodeState& node = nodes.at(plan.places[i]);
    RC_ASSERT(CheckFit(*members[i], node).none());
    node = WithPod(node, members[i]);
  }
}

// Says that every pod reads from storage, about which nothing or something is known.
class StorageOfAll final : public StorageCatalog {
 public:
  explicit StorageOfAll(double bandwidth) : bandwidth_(bandwidth) {}
  double BandwidthOf(const std::string& node) const override {
    return bandwidth_ * static_cast<double>(node.back() % 4);
  }
  double MostBandwidth() const override { return 3 * bandwidth_; }
  std::optional<PodReads> ReadsOf(const Pod& /*pod*/) const override {
    return PodReads{profile_, {.process = GB(1), .data_set = GB(100), .per_iteration = 1e7}};
  }

 private:
  const double bandwidth_;
  const std::shared_ptr<const JobProfile> profile_ =
      std::make_shared<const JobProfile>(*JobProfile::Create(Gpus(1), {{Cores(1), GB(1), 10}}));
};

RC_GTEST_PROP(GangPlanProperty, UnknownStorageChangesNothingAndAKnownOneLosesNoPlan,
              (const RandomCluster& cluster)) {
  const auto snapshot = cluster.Snapshot();
  const Pod shape = *IncomingPod();
  RC_PRE(shape.UsesGpus());
  Members members;
  for (int64_t i = *rc::gen::inRange(1, 6); i > 0; --i) {
    members.push_back(std::make_shared<const Pod>(NamedMember(shape, i)));
  }
  const auto places = [&](const StorageCatalog* storage) {
    GangTerms terms([](size_t, NodeIndex) { return true; });
    terms.storage = storage;
    return PlanGang(*snapshot, members, {}, terms).places;
  };
  const auto blind = places(nullptr);
  const StorageOfAll unknown(0);
  RC_ASSERT(places(&unknown) == blind);
  const StorageOfAll known(100e6);
  const auto seeing = places(&known);
  RC_CLASSIFY(seeing != blind, "storage decides");
  RC_ASSERT(seeing.empty() == blind.empty());
}

}  // namespace
}  // namespace synergy::testing
