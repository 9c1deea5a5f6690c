#include "cli/views/top.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "allocation/surplus.h"
#include "cli/text/amounts.h"
#include "cluster/devices/device_safety.h"
#include "core/text/quantity_text.h"

namespace synergy::cli {
namespace {

std::string Text(MilliCpu cpu) { return ToQuantityText(cpu); }
std::string Text(Bytes memory) { return ToReadableText(memory); }

// Returns "vdb 12.6 MB/s of 13.6 MB/s"; "-" if there is none.
std::string Text(const std::map<std::string, DiskView>& disks) {
  std::vector<std::string> parts;
  for (const auto& [name, disk] : disks) {
    const std::string bandwidth = disk.bandwidth ? ToRateText(*disk.bandwidth) : "?";
    parts.push_back(fmt::format("{} {} of {}", name, ToRateText(disk.read), bandwidth));
  }
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

// Returns "3/8"; "5/16 slices" of a node that offers its GPUs in slices, "3/4 turns" of one in
// turns.
std::string GpusText(const NodeView& node) {
  const std::string whole =
      fmt::format("{}/{}", node.allocated.gpus.count(), node.allocatable.gpus.count());
  if (node.slices <= Slices(0)) return whole;
  const std::string slices = fmt::format("{}/{} {}", node.slices_taken.count(), node.slices.count(),
                                         node.in_turns ? "turns" : "slices");
  return node.allocatable.gpus > Gpus(0) ? fmt::format("{} + {}", whole, slices) : slices;
}

// Returns the disks that the node's pods read from, according to their reports.
std::map<std::string, DiskView> DisksOf(const NodeState& node, const ProgressFacts& progress) {
  std::map<std::string, DiskView> disks;
  for (const auto& pod : node.detail->pods) {
    const std::optional<KnownProgress> known = progress.Of(pod->uid);
    if (!known || !known->pod.storage || !known->pod.storage->all) continue;
    const StorageUse& storage = *known->pod.storage;
    disks[storage.backend] = {*storage.all, storage.bandwidth};
  }
  return disks;
}

}  // namespace

NodeView View(const NodeState& node, const Profiles& profiles, WallTime now) {
  NodeView view;
  view.name = node.detail->name;
  view.schedulable = node.Schedulable();
  view.allocatable = node.allocatable;
  view.allocated = node.requested;
  view.demand = node.wanted;
  view.devices = DeviceSafetyOf(node);
  view.slices = node.detail->gpu_kinds.slices;
  view.slices_taken = SlicesTaken(node);
  view.in_turns = HasTurns(node.detail->allocatable);
  double part = 0;
  int64_t gpus = 0;
  for (const auto& pod : node.detail->pods) {
    if (!pod->UsesGpus() && !pod->SharesGpus()) continue;
    ++view.gpu_pods;
    const PodView one = View(*pod, nullptr, profiles, now);
    view.surplus += SurplusOn(node, *pod, now);
    if (!one.speed) continue;
    part += one.speed->PartOfBest() * static_cast<double>(one.gpus.count());
    gpus += one.gpus.count();
  }
  if (gpus > 0) view.part_of_best = part / static_cast<double>(gpus);
  return view;
}

std::vector<NodeView> ViewNodes(const ClusterFacts& facts, WallTime now) {
  std::vector<NodeView> nodes;
  for (NodeIndex index = 0; index < facts.cluster->size(); ++index) {
    const NodeState& node = facts.cluster->node(index);
    const bool has_gpus =
        node.allocatable.gpus > Gpus(0) || node.detail->gpu_kinds.slices > Slices(0);
    if (!node.exists || !has_gpus) continue;
    nodes.push_back(View(node, facts.profiles, now));
    nodes.back().disks = DisksOf(node, facts.progress);
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const NodeView& a, const NodeView& b) { return a.name < b.name; });
  return nodes;
}

std::vector<PodView> ViewPods(const ClusterFacts& facts, WallTime now) {
  std::vector<PodView> pods;
  for (const Pod& pod : facts.pods) {
    pods.push_back(View(pod, facts.cluster.get(), facts.profiles, now));
    SetProgress(pods.back(), facts.progress.Of(pod.uid));
  }
  return pods;
}

std::vector<IdleView> ViewIdle(const ClusterFacts& facts, Duration least) {
  std::vector<IdleView> idle;
  for (const Pod& pod : facts.pods) {
    const std::optional<KnownProgress> known = facts.progress.Of(pod.uid);
    if (!pod.fungible || !known || !known->pod.idle || known->pod.idle->idle < least) continue;
    idle.push_back({pod.pod_namespace, pod.name, pod.node, pod.fungible->requested.gpus,
                    known->pod.idle->idle, pod.fungible->requested.cpu, pod.fungible->Lends()});
  }
  std::stable_sort(idle.begin(), idle.end(), [](const IdleView& a, const IdleView& b) {
    return a.GpuHours() > b.GpuHours();
  });
  return idle;
}

Tree ToTree(const IdleView& view) {
  return Tree::Members{{"namespace", view.pod_namespace},
                       {"name", view.name},
                       {"node", view.node},
                       {"gpus", view.gpus.count()},
                       {"idleSeconds", Elapsing{Seconds(view.idle).count()}},
                       {"idleGpuHours", Elapsing{view.GpuHours()}},
                       {"cpu", ToQuantityText(view.cpu)},
                       {"cpuLent", ToQuantityText(view.lent)}};
}

Shown ShowIdle(const std::vector<IdleView>& pods, bool with_namespace) {
  Shown shown{.columns = {"POD", "NODE", "GPU", "IDLE", "GPU HOURS", "CPU", "LENT"},
              .nothing = "no pod with GPUs is known to be idle"};
  for (const IdleView& pod : pods) {
    shown.objects.push_back(
        {.names = {"pod/" + pod.name},
         .cells = {pod.name, pod.node, fmt::format("{}", pod.gpus.count()), ToShortText(pod.idle),
                   fmt::format("{:.1f}", pod.GpuHours()), Text(pod.cpu),
                   pod.lent > MilliCpu(0) ? Text(pod.lent) : "-"},
         .tree = ToTree(pod)});
    if (with_namespace) AddNamespace(shown, pod.pod_namespace);
  }
  return shown;
}

Tree ToTree(const NodeView& view) {
  const auto with_gpus = [](const ResourceVector& amounts) -> Tree {
    return Tree::Members{{"gpus", amounts.gpus.count()},
                         {"cpu", ToQuantityText(amounts.cpu)},
                         {"memory", ToQuantityText(amounts.memory)}};
  };
  Tree::List disks;
  for (const auto& [name, disk] : view.disks) {
    disks.push_back(Tree::Members{{"device", name},
                                  {"readBytesPerSecond", disk.read},
                                  {"bandwidthBytesPerSecond", disk.bandwidth}});
  }
  Tree::Members tree{{"name", view.name},
                     {"schedulable", view.schedulable},
                     {"gpuPods", static_cast<int64_t>(view.gpu_pods)},
                     {"allocatable", with_gpus(view.allocatable)},
                     {"allocated", with_gpus(view.allocated)},
                     {"demand", with_gpus(view.demand)},
                     {"surplus", ToTree(view.surplus)},
                     {"devices", ToString(view.devices)},
                     {"partOfBestThroughput", view.part_of_best},
                     {"storage", std::move(disks)}};
  if (view.slices > Slices(0)) {
    tree.emplace_back(view.in_turns ? "turns" : "slices",
                      Tree::Members{{"allocatable", view.slices.count()},
                                    {"allocated", view.slices_taken.count()}});
  }
  return tree;
}

Shown ShowNodes(const std::vector<NodeView>& nodes) {
  Shown shown{.columns = {"NODE", "GPU", "CPU", "DEMAND", "SURPLUS", "MEMORY", "DEMAND", "SURPLUS",
                          "PODS", "THROUGHPUT", "DEVICES", "FREE CPU", "FREE MEMORY", "STORAGE"},
              .wide_columns = 3,
              .nothing = "no node has GPUs"};
  for (const NodeView& node : nodes) {
    const auto of = [&node](auto member) {
      return fmt::format("{}/{}", Text(node.allocated.*member), Text(node.allocatable.*member));
    };
    const ResourceVector free = node.allocatable - node.allocated;
    shown.objects.push_back(
        {.names = {"node/" + node.name},
         .cells = {node.schedulable ? node.name : node.name + " (cordoned)", GpusText(node),
                   of(&ResourceVector::cpu), Text(node.demand.cpu), Text(node.surplus.cpu),
                   of(&ResourceVector::memory), Text(node.demand.memory), Text(node.surplus.memory),
                   fmt::format("{}", node.gpu_pods),
                   node.part_of_best ? fmt::format("{:.0f} %", 100 * *node.part_of_best) : "-",
                   std::string(ToString(node.devices)), Text(free.cpu), Text(free.memory),
                   Text(node.disks)},
         .tree = ToTree(node)});
  }
  return shown;
}

Shown ShowPods(const std::vector<PodView>& pods, bool with_namespace) {
  Shown shown{.columns = {"POD", "NODE", "GPU", "CPU", "FAIR SHARE", "DEMAND", "MEMORY",
                          "FAIR SHARE", "DEMAND", "PROFILE", "THROUGHPUT", "RATE", "DONE", "LEFT",
                          "STATE", "FLOOR CPU", "FLOOR MEMORY", "SURPLUS CPU", "SURPLUS MEMORY"},
              .wide_columns = 4,
              .nothing = "no pod requests GPUs"};
  for (const PodView& pod : pods) {
    const auto amount = [](const std::optional<ResourceVector>& amounts, auto member) {
      return amounts ? Text((*amounts).*member) : std::string("-");
    };
    shown.objects.push_back(
        {.names = {"pod/" + pod.name},
         .cells = {pod.name, pod.node.empty() ? "-" : pod.node, GpusText(pod),
                   Text(pod.allocated.cpu), amount(pod.fair_share, &ResourceVector::cpu),
                   amount(pod.demand, &ResourceVector::cpu), Text(pod.allocated.memory),
                   amount(pod.fair_share, &ResourceVector::memory),
                   amount(pod.demand, &ResourceVector::memory),
                   pod.profile.empty() ? "-" : pod.profile, SpeedText(pod.speed),
                   RateText(pod.progress), DoneText(pod.progress), LeftText(pod.progress),
                   pod.state, amount(pod.floor, &ResourceVector::cpu),
                   amount(pod.floor, &ResourceVector::memory), Text(pod.surplus.cpu),
                   Text(pod.surplus.memory)},
         .tree = ToTree(pod)});
    if (with_namespace) AddNamespace(shown, pod.pod_namespace);
  }
  return shown;
}

}  // namespace synergy::cli
