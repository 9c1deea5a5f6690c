#include "cli/simulate/history/cluster_history.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "kube/listing.h"

namespace synergy::cli {
namespace {

// The kinds to read. JobSets and RayClusters connect their Jobs and pods with the job's Workload.
struct HistoryKind {
  std::string_view path;
  bool required = false;
};
constexpr std::array<HistoryKind, 5> kHistoryKinds = {{{"/apis/batch/v1/jobs", true},
                                                       {"/api/v1/pods", true},
                                                       {"/apis/kueue.x-k8s.io/v1beta2/workloads"},
                                                       {"/apis/jobset.x-k8s.io/v1alpha2/jobsets"},
                                                       {"/apis/ray.io/v1/rayclusters"}}};

Result<> AddAll(kube::ApiClient& client, std::string_view path, KubernetesTrace& trace) {
  return kube::ForEachPage(
      client, {std::string(path), ""}, [&](const std::string& page) -> Result<std::string> {
        auto next = trace.Add(page);
        if (!next)
          return Fail(next.error().code, fmt::format("{}: {}", path, next.error().message));
        return next;
      });
}

// Returns a key that is equal for nodes of one kind: machines of one kind differ by a few KiB.
std::tuple<int64_t, int64_t, int64_t> ShapeOf(const ResourceVector& amounts) {
  return {amounts.gpus.count(), (amounts.cpu.count() + Cores(1).count() / 2) / Cores(1).count(),
          (amounts.memory.count() + GiB(1).count() / 2) / GiB(1).count()};
}

}  // namespace

Result<> SetServers(const std::vector<Node>& nodes, ClusterHistory& history) {
  struct Shape {
    ResourceVector amounts;
    int64_t nodes = 0;
  };
  std::map<std::tuple<int64_t, int64_t, int64_t>, Shape> shapes;
  Gpus gpus;
  int64_t with_gpus = 0;
  for (const Node& node : nodes) {
    const ResourceVector& amounts = node.allocatable.main;
    if (amounts.gpus <= Gpus(0)) continue;
    gpus += amounts.gpus;
    ++with_gpus;
    Shape& shape = shapes[ShapeOf(amounts)];
    shape.amounts = amounts;
    ++shape.nodes;
  }
  if (shapes.empty())
    return Fail(ErrorCode::kNotFound, "the cluster has no node with GPUs in status.allocatable");
  const auto most = std::max_element(
      shapes.begin(), shapes.end(),
      [](const auto& a, const auto& b) { return a.second.nodes < b.second.nodes; });
  history.server = most->second.amounts;
  const int64_t of_one = history.server.gpus.count();
  history.servers = (gpus.count() + of_one - 1) / of_one;
  if (shapes.size() > 1) {
    history.notes.push_back(
        fmt::format("the cluster's {} nodes with GPUs have {} shapes: simulated as {} servers of "
                    "the most frequent one, with {} GPUs each",
                    with_gpus, shapes.size(), history.servers, of_one));
  }
  return {};
}

Result<ClusterHistory> ReadHistory(kube::ApiClient& client, const wire::ObjectReader& reader,
                                   const KubernetesTrace::Period& period) {
  ClusterHistory history;
  const auto nodes = kube::ListAll<Node>(client, reader, {"/api/v1/nodes", ""});
  if (!nodes) return Fail(nodes.error());
  if (auto set = SetServers(nodes->items, history); !set) return Fail(set.error());
  KubernetesTrace trace(reader.gpu_resource());
  for (const HistoryKind& kind : kHistoryKinds) {
    const auto added = AddAll(client, kind.path, trace);
    if (added || (!kind.required && added.error().code == ErrorCode::kNotFound)) continue;
    if (kind.required) return Fail(added.error());
    history.notes.push_back(
        fmt::format("without {}, or without a part of them: {}", kind.path, added.error().message));
  }
  auto finished = trace.Finish("the cluster", period);
  if (!finished) return Fail(finished.error());
  history.trace = *std::move(finished);
  return history;
}

}  // namespace synergy::cli
