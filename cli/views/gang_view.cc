#include "cli/views/gang_view.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "cli/views/pod_view.h"
#include "core/text/quantity_text.h"

namespace synergy::cli {
namespace {

std::string AllocationText(const GangView::Members& members) {
  if (!members.least) return {};
  const std::string least = DescribeCpuAndMemory(*members.least);
  if (members.least == members.most) return fmt::format("; each has {}", least);
  return fmt::format("; they have from {} to {}, to be equalised within a round or two", least,
                     DescribeCpuAndMemory(*members.most));
}

}  // namespace

size_t RunningOf(const GangView::Members& members) {
  size_t running = 0;
  for (const auto& [node, count] : members.running) running += count;
  return running;
}

std::string WaitText(const GangView& gang) {
  if (!gang.members) return {};
  const GangView::Members& members = *gang.members;
  if (members.running.empty() && members.there < gang.size)
    return fmt::format("it waits for {} more pods to be created", gang.size - members.there);
  if (members.waiting > 0) {
    return fmt::format("{} of them wait until all of these can be placed at once", members.waiting);
  }
  return {};
}

GangView View(const Gang& gang, const ClusterSnapshot* cluster) {
  GangView view{.name = gang.name,
                .problem = gang.problem,
                .size = static_cast<size_t>(gang.size),
                .members = {}};
  if (cluster == nullptr || !gang.problem.empty()) return view;
  GangView::Members& members = view.members.emplace();
  const GangSites* const sites = cluster->GangOf(gang.name);
  if (sites == nullptr) return view;
  members.there = sites->members;
  members.waiting = sites->waiting;
  for (const auto& pod : cluster->MembersOnNodes(gang.name)) {
    if (pod->waiting || !pod->UsesGpus()) continue;
    ++members.running[pod->node];
    if (!pod->fungible) continue;
    const ResourceVector& has = pod->fungible->requested;
    members.least = members.least ? LesserOf(*members.least, has) : has;
    members.most = members.most ? LargerOf(*members.most, has) : has;
  }
  return view;
}

Tree ToTree(const GangView& gang) {
  Tree of_members;
  if (gang.members) {
    const auto amounts = [](const std::optional<ResourceVector>& value) {
      return value ? ToTree(*value) : Tree();
    };
    Tree::List nodes;
    for (const auto& [node, count] : gang.members->running) {
      nodes.push_back(Tree::Members{{"node", node}, {"members", static_cast<int64_t>(count)}});
    }
    of_members = Tree::Members{{"there", static_cast<int64_t>(gang.members->there)},
                               {"waiting", static_cast<int64_t>(gang.members->waiting)},
                               {"nodes", std::move(nodes)},
                               {"least", amounts(gang.members->least)},
                               {"most", amounts(gang.members->most)}};
  }
  return Tree::Members{{"name", gang.name},
                       {"problem", gang.problem},
                       {"size", static_cast<int64_t>(gang.size)},
                       {"members", std::move(of_members)}};
}

std::string ToText(const GangView& gang) {
  if (!gang.problem.empty()) return fmt::format("Gang {}: {}\n", gang.name, gang.problem);
  std::string text = fmt::format("Gang {} of {} pods", gang.name, gang.size);
  if (!gang.members) return text + '\n';
  const GangView::Members& members = *gang.members;
  text += fmt::format(": {} exist, {} run", members.there, RunningOf(members));
  const char* before = " (";
  for (const auto& [node, count] : members.running) {
    text += fmt::format("{}{} on {}", std::exchange(before, ", "), count, node);
  }
  if (!members.running.empty()) text += ")";
  text += AllocationText(members) + '\n';
  if (const std::string waits = WaitText(gang); !waits.empty())
    text += fmt::format("  {}\n", waits);
  return text;
}

}  // namespace synergy::cli
