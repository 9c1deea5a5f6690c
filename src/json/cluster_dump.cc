#include "json/cluster_dump.h"

#include <algorithm>
#include <vector>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace synergy::json {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void WriteVector(Writer& out, const char* key, const ResourceVector& amount,
                 const std::string& gpu_resource) {
  out.Key(key);
  out.StartObject();
  out.Key(gpu_resource.c_str());
  out.Int64(amount.gpus.count());
  out.Key("milliCpu");
  out.Int64(amount.cpu.count());
  out.Key("memory");
  out.Int64(amount.memory.count());
  out.EndObject();
}

void WriteNode(Writer& out, const NodeState& node, const std::string& gpu_resource) {
  const NodeDetail& detail = *node.detail;
  out.StartObject();
  out.Key("name");
  out.String(detail.name);
  out.Key("known");
  out.Bool(node.exists);
  out.Key("schedulable");
  out.Bool(node.Schedulable());
  WriteVector(out, "allocatable", node.allocatable, gpu_resource);
  WriteVector(out, "requested", node.requested, gpu_resource);
  WriteVector(out, "free", node.Free(), gpu_resource);
  out.Key("podsAllowed");
  out.Int64(node.pods_allowed);
  std::vector<const Pod*> pods;
  pods.reserve(detail.pods.size());
  for (const auto& pod : detail.pods) pods.push_back(pod.get());
  std::sort(pods.begin(), pods.end(),
            [](const Pod* a, const Pod* b) { return a->Key() < b->Key(); });
  out.Key("pods");
  out.StartArray();
  for (const Pod* pod : pods) {
    out.StartObject();
    out.Key("pod");
    out.String(pod->Key());
    out.Key("uid");
    out.String(pod->uid);
    WriteVector(out, "requests", pod->requests.main, gpu_resource);
    if (pod->demand) WriteVector(out, "demand", *pod->demand, gpu_resource);
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
}

}  // namespace

std::string WriteSnapshot(const ClusterSnapshot& snapshot, const std::string& gpu_resource) {
  rapidjson::StringBuffer buffer;
  Writer out(buffer);
  out.StartObject();
  WriteVector(out, "largestNode", snapshot.largest_node(), gpu_resource);
  WriteVector(out, "leastPerGpu", snapshot.least_per_gpu(), gpu_resource);
  out.Key("waitingGpuPods");
  out.Uint64(snapshot.waiting_gpu_pods());
  out.Key("nodes");
  out.StartArray();
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
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace synergy::json
