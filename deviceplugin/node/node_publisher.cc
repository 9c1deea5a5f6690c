#include "deviceplugin/node/node_publisher.h"

#include <functional>
#include <utility>

#include "core/backoff.h"
#include "inventory/node_labels.h"
#include "wire/objects/gpu_inventory.h"

namespace synergy::deviceplugin {
namespace {

constexpr Duration kFirstWait = std::chrono::seconds(1);
constexpr Duration kLongestWait = std::chrono::minutes(1);

}  // namespace

NodePublisher::NodePublisher(kube::NodeApi& api, NodePublisherOptions options, const Clock& clock,
                             Logger& log, metrics::DeviceMetrics& metrics)
    : api_(api),
      options_(std::move(options)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      labels_(options_.labels) {
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

NodePublisher::~NodePublisher() {
  thread_.request_stop();
  thread_.join();
}

void NodePublisher::Publish(std::shared_ptr<const Picture> picture) {
  const std::lock_guard lock(mutex_);
  picture_ = std::move(picture);
  ++version_;
  changed_.notify_all();
}

void NodePublisher::SetLabels(bool labels) {
  const std::lock_guard lock(mutex_);
  labels_ = labels;
  ++version_;
  changed_.notify_all();
}

void NodePublisher::Run(const std::stop_token& stop) {
  Backoff backoff(kFirstWait, kLongestWait, std::hash<std::string>()(options_.node));
  std::string problem;
  uint64_t done = 0;
  Duration wait = Duration::zero();
  while (!stop.stop_requested()) {
    std::shared_ptr<const Picture> picture;
    bool labels = true;
    {
      std::unique_lock lock(mutex_);
      // While a retry is pending, changes also wait for it.
      changed_.wait_for(lock, stop, wait, [&] { return problem.empty() && version_ != done; });
      if (stop.stop_requested()) return;
      picture = picture_;
      labels = labels_;
      done = version_;
    }
    wait = options_.verify_interval;
    if (!picture) continue;
    const Result<bool> settled = Settle(*picture, labels, stop);
    if (settled) {
      if (*settled) metrics_.CountNodePatch("ok");
      problem.clear();
      backoff.Reset();
      continue;
    }
    metrics_.CountNodePatch(ToString(settled.error().code));
    if (settled.error().message != problem) {
      problem = settled.error().message;
      log_.Warn("the Node cannot be patched", {{"node", options_.node}, {"error", problem}});
    }
    wait = backoff.Next();
  }
}

Result<bool> NodePublisher::Settle(const Picture& picture, bool labels,
                                   const std::stop_token& stop) {
  const auto node = api_.ReadGpus(options_.node, stop);
  if (!node) return Fail(node.error());
  wire::NodeGpus gpus;
  // Without a readable annotation it is unknown which labels belong to this program; the annotation
  // is written again.
  NodeLabels written;
  if (const auto before = wire::ReadGpuInventory(node->gpu_inventory)) {
    // Labels and annotation are written together, so the annotated inventory determines the labels'
    // values.
    NodeLabels of_then = DesiredNodeLabels(before->inventory, before->replicas, before->in_turns);
    for (const std::string& name : before->owned_labels)
      if (const auto label = of_then.find(name); label != of_then.end()) written.insert(*label);
  }
  gpus.replicas = ReplicasOf(picture.advertisement);
  gpus.in_turns = gpus.replicas > 0 && AreAllInTurns(picture.advertisement);
  const NodeLabels desired =
      labels ? DesiredNodeLabels(picture.inventory, gpus.replicas, gpus.in_turns) : NodeLabels();
  const NodeLabelChange plan = PlanNodeLabels(desired, node->labels, written);
  gpus.owned_labels = plan.owned;
  gpus.inventory = picture.inventory;
  gpus.health = picture.health;
  const std::string text = wire::WriteGpuInventory(gpus);
  if (plan.changes.empty() && text == node->gpu_inventory) return false;
  const Result<> patched = api_.WriteGpus(options_.node, plan, text, stop);
  if (!patched) return Fail(patched.error());
  log_.Info("the Node describes its GPUs", {{"node", options_.node},
                                            {"gpus", picture.inventory.gpus().size()},
                                            {"labels_changed", plan.changes.size()}});
  return true;
}

}  // namespace synergy::deviceplugin
