#include "cli/page/map_objects.h"

#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/text/amounts.h"
#include "cli/views/gang_view.h"
#include "cli/views/pod_view.h"

namespace synergy::cli {
namespace {

std::string GroupOf(const Labels& labels) {
  std::string group;
  for (const char* label : {"topology.kubernetes.io/zone", "topology.kubernetes.io/rack"}) {
    const auto value = FindLabel(labels, label);
    if (!value || value->empty()) continue;
    group += (group.empty() ? "" : " / ") + std::string(*value);
  }
  return group;
}

MapObject ToMapObject(const GangView& gang) {
  MapObject object{{"size", std::to_string(gang.size)}};
  SetText(object, "problem", gang.problem);
  SetText(object, "waits", WaitText(gang));
  if (gang.members) {
    object["there"] = std::to_string(gang.members->there);
    object["running"] = std::to_string(RunningOf(*gang.members));
  }
  return object;
}

MapObject ToMapObject(const QueueView& queue) {
  MapObject object{{"running", std::to_string(queue.running)},
                   {"waiting", std::to_string(queue.waiting)}};
  SetText(object, "title", HeadLine(queue));
  SetText(object, "problem", queue.problem);
  return object;
}

// `order`: its position in its queue.
MapObject ToMapObject(const QueuedView& one, const std::string& queue, size_t order) {
  MapObject object{{"order", std::to_string(order)}, {"gpus", std::to_string(one.gpus.count())}};
  SetText(object, "queue", queue);
  SetText(object, "name", one.Name());
  SetText(object, "kind", one.kind);
  SetText(object, "state", one.state);
  SetText(object, "why", one.Why());
  SetText(object, "unplaced", fmt::format("{}", fmt::join(one.unplaced, ", ")));
  if (one.band) SetText(object, "band", ToString(*one.band));
  if (one.place) object["place"] = std::to_string(*one.place);
  if (!one.service) return object;
  const RoundService& had = *one.service;
  SetText(object, "gpuTime", ToShortText(Seconds(had.served)));
  SetText(object, "fairShareDelay", ToShortText(had.delays.fair_share));
  SetText(object, "fragmentationDelay", ToShortText(had.delays.fragmentation));
  object["lostTurns"] = std::to_string(had.lost_turns);
  return object;
}

}  // namespace

std::map<std::string, MapNode> NodesOf(const ClusterSnapshot& cluster) {
  std::map<std::string, MapNode> shown;
  for (NodeIndex index = 0; index < cluster.size(); ++index) {
    const NodeState& node = cluster.node(index);
    const Slices slices = node.detail->gpu_kinds.slices;
    if (!node.exists || (node.allocatable.gpus <= Gpus(0) && slices <= Slices(0))) continue;
    MapNode& on_map = shown[node.detail->name];
    on_map = {.group = GroupOf(node.detail->labels),
              .allocatable = node.allocatable,
              .slices = slices,
              .in_turns = HasTurns(node.detail->allocatable),
              .schedulable = node.Schedulable()};
    for (const auto& pod : node.detail->pods) {
      if (!pod->UsesGpus() && !pod->SharesGpus()) on_map.others += pod->requests.main;
    }
  }
  return shown;
}

std::string GangKey(const Pod& pod) {
  if (!pod.gang) return {};
  return pod.gang->name.empty() ? pod.pod_namespace + "/" + pod.name : pod.gang->name;
}

MapObjects GangsOf(const std::vector<Pod>& pods, const ClusterSnapshot* cluster) {
  MapObjects gangs;
  for (const Pod& pod : pods) {
    if (!pod.gang) continue;
    const std::string key = GangKey(pod);
    // A pod with a problem in its labels cannot join its gang, so it represents the gang only if
    // there is no other pod.
    if (gangs.contains(key) && pod.gang->problem.empty()) continue;
    gangs[key] = ToMapObject(View(*pod.gang, cluster));
  }
  return gangs;
}

MapQueues QueuesOnMap(const std::vector<QueueView>& queues) {
  MapQueues shown;
  for (const QueueView& queue : queues) {
    shown.queues[queue.name] = ToMapObject(queue);
    size_t order = 0;
    for (const QueuedView& one : queue.workloads) {
      shown.workloads[one.workload_namespace + "/" + one.workload] =
          ToMapObject(one, queue.name, order++);
    }
  }
  return shown;
}

}  // namespace synergy::cli
