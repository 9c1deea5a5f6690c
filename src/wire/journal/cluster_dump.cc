#include "wire/journal/cluster_dump.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "wire/base/json_words.h"

namespace synergy::wire {
namespace {

void WriteVector(Writer& out, std::string_view key, const ResourceVector& amount,
                 const std::string& gpu_resource) {
  out.Key(key);
  out.BeginObject();
  out.Key(gpu_resource);
  out.Integer(amount.gpus.count());
  out.Key("milliCpu");
  out.Integer(amount.cpu.count());
  out.Key("memory");
  out.Integer(amount.memory.count());
  out.EndObject();
}

void WriteNode(Writer& out, const NodeState& node, const std::string& gpu_resource) {
  const NodeDetail& detail = *node.detail;
  out.BeginObject();
  out.Key("name");
  out.Text(detail.name);
  out.Key("known");
  out.Truth(node.exists);
  out.Key("schedulable");
  out.Truth(node.Schedulable());
  WriteVector(out, "allocatable", node.allocatable, gpu_resource);
  WriteVector(out, "requested", node.requested, gpu_resource);
  WriteVector(out, "free", node.Free(), gpu_resource);
  out.Key("podsAllowed");
  out.Integer(node.pods_allowed);
  std::vector<const Pod*> pods;
  pods.reserve(detail.pods.size());
  for (const auto& pod : detail.pods) pods.push_back(pod.get());
  std::sort(pods.begin(), pods.end(),
            [](const Pod* a, const Pod* b) { return a->Key() < b->Key(); });
  out.Key("pods");
  out.BeginArray();
  for (const Pod* pod : pods) {
    out.BeginObject();
    out.Key("pod");
    out.Text(pod->Key());
    out.Key("uid");
    out.Text(pod->uid);
    WriteVector(out, "requests", pod->requests.main, gpu_resource);
    if (pod->demand) WriteVector(out, "demand", *pod->demand, gpu_resource);
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
}

}  // namespace

std::string WriteSnapshot(const ClusterSnapshot& snapshot, const std::string& gpu_resource) {
  Writer out;
  out.BeginObject();
  WriteVector(out, "largestNode", snapshot.largest_node(), gpu_resource);
  WriteVector(out, "leastPerGpu", snapshot.least_per_gpu(), gpu_resource);
  out.Key("waitingGpuPods");
  out.Integer(static_cast<int64_t>(snapshot.waiting_gpu_pods()));
  out.Key("nodes");
  out.BeginArray();
  std::vector<const NodeState*> nodes;
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    const NodeState& node = snapshot.node(index);
    if (node.exists || !node.detail->pods.empty()) nodes.push_back(&node);
  }
  std::sort(nodes.begin(), nodes.end(), [](const NodeState* a, const NodeState* b) {
    return a->detail->name < b->detail->name;
  });
  for (const NodeState* node : nodes) WriteNode(out, *node, gpu_resource);
  out.EndArray();
  out.EndObject();
  return out.Take();
}

}  // namespace synergy::wire
