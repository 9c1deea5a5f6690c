#include "property/cluster_photo.h"

#include <algorithm>
#include <ostream>

#include "core/check.h"

namespace synergy::testing {

ClusterPhoto PhotoOf(const ClusterSnapshot& snapshot) {
  ClusterPhoto photo;
  photo.largest_node = snapshot.largest_node();
  photo.least_per_gpu = snapshot.least_per_gpu();
  photo.waiting_gpu_pods = snapshot.waiting_gpu_pods();
  for (NodeIndex place = 0; place < snapshot.size(); ++place) {
    const NodeState& node = snapshot.node(place);
    SYNERGY_CHECK(node.detail != nullptr, "every place has its detail");
    const auto found = snapshot.Find(node.detail->name);
    if (found != place) {
      // An unused place: its former node may have come back elsewhere.
      SYNERGY_CHECK(!node.exists && node.detail->pods.empty() && node.pods == 0,
                    "an unused place is empty");
      continue;
    }
    NodePhoto& shown = photo.nodes[node.detail->name];
    shown.exists = node.exists;
    shown.unschedulable = node.unschedulable;
    shown.deleting = node.deleting;
    shown.pods_allowed = node.pods_allowed;
    shown.allocatable = node.allocatable;
    shown.requested = node.requested;
    shown.of_others = node.of_others;
    shown.cards = node.detail->allocatable.Get(kCard);
    shown.cards_taken = node.detail->requested.Get(kCard);
    const ScalarColumn* const cards = snapshot.FreeOf(kCard);
    // Zero and negative values are equivalent there.
    const int64_t free = cards == nullptr ? 0 : cards->Free(place);
    SYNERGY_CHECK(
        std::max<int64_t>(free, 0) == std::max<int64_t>(shown.cards - shown.cards_taken, 0),
        "the column says what the node says");
    for (const auto& pod : node.detail->pods) {
      SYNERGY_CHECK(pod->node == node.detail->name, "a pod stands on the node it says");
      shown.pods.insert(pod->uid);
    }
    SYNERGY_CHECK(node.pods == static_cast<int64_t>(node.detail->pods.size()),
                  "pods are counted right");
    SYNERGY_CHECK(shown.pods.size() == node.detail->pods.size(), "no pod is listed twice");
  }
  return photo;
}

namespace {

std::ostream& operator<<(std::ostream& out, const ResourceVector& amount) {
  return out << amount.gpus.count() << " GPUs, " << amount.cpu.count() << "m, "
             << amount.memory.count() << " bytes";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ClusterPhoto& photo) {
  for (const auto& [name, node] : photo.nodes) {
    out << name << (node.exists ? "" : " unknown") << (node.unschedulable ? " cordoned" : "")
        << (node.deleting ? " deleting" : "") << ": " << node.allocatable << ", " << node.cards
        << " cards, " << node.pods_allowed << " pods; taken " << node.requested << ", "
        << node.cards_taken << " cards by";
    for (const std::string& pod : node.pods) out << " " << pod;
    out << "; without GPUs " << node.of_others << "\n";
  }
  return out << "largest " << photo.largest_node << "; least " << photo.least_per_gpu << "; "
             << photo.waiting_gpu_pods << " waiting\n";
}

}  // namespace synergy::testing
