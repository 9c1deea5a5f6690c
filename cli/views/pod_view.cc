#include "cli/views/pod_view.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "allocation/surplus.h"
#include "cli/text/amounts.h"
#include "cli/text/terminal.h"
#include "core/text/quantity_text.h"
#include "core/wall_time.h"

namespace synergy::cli {
namespace {

std::string State(const Pod& pod) {
  if (pod.terminal) return "ended";
  if (pod.deleting) return "ending";
  if (pod.gated) return "gated";
  if (pod.waiting && !pod.waiting->kept_node.empty()) return "place kept";
  if (pod.waiting) return pod.waiting->unschedulable ? "unschedulable" : "waiting";
  if (!pod.fungible) return "placed";
  switch (pod.fungible->resize) {
    case ResizeState::kNone:
      return pod.fungible->Announced() ? "to be resized" : "placed";
    case ResizeState::kInProgress:
      return "resizing";
    case ResizeState::kDeferred:
      return "resize deferred";
    case ResizeState::kInfeasible:
      return "resize infeasible";
    case ResizeState::kRefused:
      return "resize refused";
  }
  return "placed";
}

std::optional<Speed> SpeedOf(const Pod& pod, const Profiles& profiles) {
  const std::shared_ptr<const JobProfile> profile = profiles.Of(pod);
  if (!profile || pod.node.empty()) return std::nullopt;
  const ManagedContainer& fungible = *pod.fungible;
  const auto at = [&profile](const ResourceVector& amounts) {
    return profile->ThroughputAt(amounts.cpu, amounts.memory);
  };
  return Speed{at(fungible.in_force), at(fungible.fair_share), profile->Best()};
}

}  // namespace

PodView View(const Pod& pod, const ClusterSnapshot* cluster, const Profiles& profiles,
             WallTime now) {
  PodView view;
  view.pod_namespace = pod.pod_namespace;
  view.name = pod.name;
  view.node = pod.node;
  view.state = State(pod);
  view.gpus = pod.requests.main.gpus;
  view.slices = pod.slices;
  view.in_turns = HasTurns(pod.requests.other);
  view.allocated = pod.requests.main;
  if (!pod.fungible) return view;
  const ManagedContainer& fungible = *pod.fungible;
  view.profile = fungible.profile;
  view.allocated = fungible.requested;
  view.floor = fungible.floor;
  view.fair_share = fungible.fair_share;
  view.demand = fungible.demand;
  const auto place = cluster != nullptr ? cluster->Find(pod.node) : std::nullopt;
  view.surplus = place ? SurplusOn(cluster->node(*place), pod, now) : Surplus(pod, now);
  view.speed = SpeedOf(pod, profiles);
  return view;
}

void SetProgress(PodView& view, std::optional<KnownProgress> progress) {
  view.progress = std::move(progress);
  const bool suspended =
      view.progress && view.progress->pod.turn && view.progress->pod.turn->suspended;
  if (suspended && view.state == "placed") view.state = "suspended";
}

bool HasTurns(const ScalarResources& amounts) {
  return std::any_of(amounts.entries().begin(), amounts.entries().end(), [](const auto& entry) {
    return entry.second > 0 && entry.first.ends_with(kTurnsSuffix);
  });
}

std::string GpusText(const PodView& view) {
  if (!view.in_turns) return ToText({view.gpus, view.slices});
  return fmt::format("{} turn{}", view.slices.count(), view.slices == Slices(1) ? "" : "s");
}

Tree ToTree(const ResourceVector& amounts) {
  return Tree::Members{{"cpu", ToQuantityText(amounts.cpu)},
                       {"memory", ToQuantityText(amounts.memory)}};
}

Tree ToTree(const PodView& view) {
  const auto amounts = [](const std::optional<ResourceVector>& value) {
    return value ? ToTree(*value) : Tree();
  };
  Tree speed;
  if (view.speed) {
    speed = Tree::Members{{"now", view.speed->now},
                          {"fairShare", view.speed->fair},
                          {"best", view.speed->best},
                          {"partOfBest", view.speed->PartOfBest()}};
  }
  Tree::Members tree{{"namespace", view.pod_namespace},
                     {"name", view.name},
                     {"node", view.node},
                     {"state", view.state},
                     {"gpus", view.gpus.count()},
                     {"profile", view.profile},
                     {"allocated", ToTree(view.allocated)},
                     {"floor", amounts(view.floor)},
                     {"fairShare", amounts(view.fair_share)},
                     {"demand", amounts(view.demand)},
                     {"surplus", ToTree(view.surplus)},
                     {"throughput", std::move(speed)},
                     {"progress", view.progress ? ToTree(*view.progress) : Tree()}};
  if (view.slices > Slices(0))
    tree.emplace_back(view.in_turns ? "turns" : "slices", view.slices.count());
  return tree;
}

std::string SpeedText(const std::optional<Speed>& speed) {
  return speed ? fmt::format("{:.0f} %", 100 * speed->PartOfBest()) : "-";
}

Tree ToTree(const std::vector<wire::EventAboutPod>& events) {
  Tree::List list;
  for (const wire::EventAboutPod& event : events) {
    list.push_back(Tree::Members{{"type", event.type},
                                 {"reason", event.reason},
                                 {"message", event.message},
                                 {"component", event.component},
                                 {"lastTimestamp", ToTimeText(event.last)},
                                 {"count", static_cast<int64_t>(event.count)}});
  }
  return list;
}

std::string EventsText(const std::vector<wire::EventAboutPod>& events, WallTime now) {
  if (events.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  rows.reserve(events.size());
  for (const wire::EventAboutPod& event : events)
    rows.push_back({ToShortText(now - event.last), event.reason, event.message});
  return "Events\n" + FormatTable(rows, 2);
}

}  // namespace synergy::cli
