#include "extender/shadow.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "allocation/asked_nodes.h"
#include "allocation/bind_allocation.h"
#include "allocation/ranking.h"
#include "cluster/node_selection.h"
#include "cluster/state/fit.h"
#include "core/text/quantity_text.h"

namespace synergy::extender {
namespace {

// The nodes in kube-scheduler's request: those that the pod's spec allows.
class PermittedNodes final : public AskedNodes {
 public:
  PermittedNodes(const ClusterSnapshot& snapshot, const NodeSelection& selection)
      : snapshot_(snapshot) {
    for (NodeIndex index = 0; index < snapshot.size(); ++index) {
      const NodeState& node = snapshot.node(index);
      const NodeDetail& detail = *node.detail;
      if (node.exists && MayGoTo(selection, detail.name, detail.labels, detail.taints))
        nodes_.push_back(index);
    }
  }

  size_t size() const override { return nodes_.size(); }
  std::string_view Name(size_t i) const override { return snapshot_.node(nodes_[i]).detail->name; }
  std::optional<Node> Sent(size_t /*i*/) const override { return std::nullopt; }

 private:
  const ClusterSnapshot& snapshot_;
  std::vector<NodeIndex> nodes_;
};

// Returns the pod with changeable amounts, as if the webhook had processed it.
Pod AsManaged(Pod pod) {
  if (pod.fungible) return pod;
  auto fungible = std::make_shared<ManagedContainer>();
  fungible->requested = fungible->floor = pod.requests.main;
  fungible->demand = pod.PlanningDemand();
  pod.fungible = std::move(fungible);
  return pod;
}

// Returns the number of free GPUs that `pod` on that node leaves with too little CPU or memory.
Gpus StrandedBy(const Pod& pod, const NodeState& node, const ResourceVector& reserve_per_gpu) {
  const NodeState after = WithPod(node, std::make_shared<const Pod>(pod));
  return std::max(StrandedGpus(after, reserve_per_gpu) - StrandedGpus(node, reserve_per_gpu),
                  Gpus(0));
}

}  // namespace

Shadow::Shadow(ClusterState& state, ReserveRule reserve, double slack, Logger& log,
               metrics::ExtenderMetrics& metrics, std::function<bool()> current)
    : state_(state),
      reserve_(reserve),
      slack_(slack),
      log_(log),
      metrics_(metrics),
      current_(std::move(current)) {}

void Shadow::Upsert(Pod pod) {
  if (pod.UsesGpus() && !pod.node.empty()) {
    const std::shared_ptr<const Pod> before = state_.FindPod(pod.uid);
    if (before && before->waiting && current_()) {
      Judge(*before, pod.node);
    } else if (!before || before->waiting) {
      metrics_.CountShadowChoice("unjudged");
    }
  }
  state_.UpsertPod(std::move(pod));
}

void Shadow::Judge(const Pod& waiting, const std::string& went_to) {
  const auto snapshot = state_.Snapshot();
  const PermittedNodes permitted(*snapshot, *waiting.waiting->selection);
  const Ranking ranking = RankNodes(*snapshot, waiting, std::nullopt, permitted, reserve_);
  const std::optional<NodeIndex> choice = ranking.best_node();
  if (!choice) {
    metrics_.CountShadowChoice("nowhere");
    log_.Info("shadow choice",
              {{"pod", waiting.Key()}, {"went_to", went_to}, {"agrees", "nowhere"}});
    return;
  }
  const std::string chosen(ranking.best_name());
  const NodeState& best = snapshot->node(*choice);
  const Pod planned = PlanAtBind(AsManaged(waiting), chosen, *snapshot, reserve_);
  const ResourceVector per_gpu = ReservePerGpu(*snapshot, reserve_);
  const Gpus would_strand = StrandedBy(planned, best, per_gpu);

  std::string_view agrees = chosen == went_to ? "yes" : "no";
  Gpus strands{};
  if (const auto place = snapshot->Find(went_to); place && snapshot->node(*place).exists) {
    const NodeState& node = snapshot->node(*place);
    const BestFit best_fit(waiting, *snapshot, reserve_);
    const FitRank most = best_fit.Rank(best);
    const FitRank rank = best_fit.Rank(node);
    const double slack = waiting.waiting->prefers ? slack_ : 0;
    if (chosen != went_to && CheckFit(waiting, node).none() && rank.tier == most.tier &&
        rank.cost <= most.cost + slack) {
      agrees = "as_good";
    }
    strands = StrandedBy(waiting, node, per_gpu);
  }
  metrics_.CountShadowChoice(agrees);
  metrics_.CountShadowStranded("synergy", would_strand);
  metrics_.CountShadowStranded("scheduler", strands);
  log_.Info("shadow choice", {{"pod", waiting.Key()},
                              {"scheduler", waiting.waiting->scheduler},
                              {"went_to", went_to},
                              {"choice", chosen},
                              {"agrees", agrees},
                              {"allocation", DescribeCpuAndMemory(planned.requests.main)},
                              {"strands", strands.count()},
                              {"would_strand", would_strand.count()}});
}

}  // namespace synergy::extender
