#include "cli/views/explain.h"

#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "allocation/surplus.h"
#include "cli/text/amounts.h"
#include "cli/text/terminal.h"
#include "cli/views/pod_view.h"
#include "cli/views/profile_list.h"
#include "cluster/annotations.h"
#include "cluster/devices/device_safety.h"
#include "cluster/node_selection.h"
#include "cluster/state/fit.h"
#include "core/text/quantity_text.h"
#include "core/wall_time.h"
#include "engine/reservations/passing_check.h"

namespace synergy::cli {
namespace {

Slices FreeSlices(const NodeState& node) {
  const Slices all = node.detail->gpu_kinds.slices;
  return all > Slices(0) ? std::max(all - SlicesTaken(node), Slices(0)) : Slices(0);
}

Waits ExplainWaiting(const Pod& pod, const ClusterSnapshot* cluster, WallTime now) {
  const Waiting& waiting = *pod.waiting;
  Waits waits{
      .scheduler = waiting.scheduler, .message = waiting.message, .kept_on = waiting.kept_node};
  if (waiting.since != WallTime{}) waits.since = ToTimeText(waiting.since);
  if (cluster == nullptr) return waits;
  std::map<std::string, size_t> reasons;
  for (NodeIndex index = 0; index < cluster->size(); ++index) {
    const NodeState& node = cluster->node(index);
    if (!node.exists) continue;
    NodeVerdict& verdict =
        waits.nodes.emplace_back(NodeVerdict{node.detail->name, node.Free(), FreeSlices(node), {}});
    if (waiting.selection &&
        !MayGoTo(*waiting.selection, node.detail->name, node.detail->labels, node.detail->taints)) {
      verdict.reason = "the pod's nodeSelector, affinity or tolerations exclude the node";
    } else if (const FitFailures failures = CheckFit(pod, node); !failures.none()) {
      verdict.reason = DescribeFailures(failures, pod.requests, &node, "GPUs");
      const bool scarce = (failures.bits() & ~(FitFailures::kCpu | FitFailures::kMemory)) == 0;
      if (scarce && CheckFit(pod, WithoutSurplus(node, now)).none()) ++waits.nodes_by_reclaim;
    }
    if (verdict.reason.empty()) {
      ++waits.nodes_with_room;
    } else {
      ++reasons[verdict.reason];
    }
  }
  std::sort(waits.nodes.begin(), waits.nodes.end(),
            [](const auto& a, const auto& b) { return a.node < b.node; });
  for (const auto& [reason, nodes] : reasons) waits.obstacles.push_back({reason, nodes});
  std::stable_sort(waits.obstacles.begin(), waits.obstacles.end(),
                   [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
  return waits;
}

void RemarkOnUnmanaged(const Pod& pod, std::vector<std::string>& remarks) {
  if (pod.devices && !pod.devices->why_left_alone.empty()) {
    remarks.push_back(
        fmt::format("its CPU and memory are not changed, because {}", pod.devices->why_left_alone));
  } else if (!pod.UsesGpus() && !pod.SharesGpus()) {
    remarks.emplace_back("it requests no GPUs, so Synergy does not change its CPU and memory");
  } else if (FindLabel(pod.labels, annotations::kFungible) == "false") {
    remarks.push_back(
        fmt::format("its label {}: \"false\" excludes its CPU and memory from changes",
                    annotations::kFungible));
  } else if (FindLabel(pod.labels, annotations::kKueuePod) == "true") {
    remarks.emplace_back(
        "Kueue manages the pod itself and would delete it if its containers changed, so its CPU "
        "and memory stay as they were at creation");
  } else if (pod.devices && pod.devices->gpus > Gpus(0)) {
    remarks.emplace_back(
        "it was created as written, so its CPU and memory are never changed: it names a "
        "ResourceClaim itself, its template was not known yet, or it did not opt in to Synergy");
  } else {
    remarks.emplace_back(
        "it was created as written: it did not opt in to Synergy (scheduler, a synergy.io/ label, "
        "its namespace), its namespace is exempt, or the controller was not reachable; its CPU and "
        "memory are never changed");
  }
}

// Returns why a pod without a named profile has no measured one, either.
std::string WhyUnmeasured(const std::optional<KnownProgress>& progress) {
  if (progress && progress->pod.estimate) {
    return fmt::format(
        "its log shows no training progress; the estimate by how busy its GPUs are may raise its "
        "CPU above its fair share, never below; set the annotations {} and {} to a source of "
        "progress",
        annotations::kProgressPattern, annotations::kProgressCounter);
  }
  if (progress && progress->pod.format.empty()) {
    return fmt::format(
        "its log shows no training progress, so it is not measured and has its fair share; set the "
        "annotations {} and {} to a source of progress",
        annotations::kProgressPattern, annotations::kProgressCounter);
  }
  return fmt::format(
      "it has no profile (label {}) and its workload has not been measured yet, so it has its fair "
      "share",
      annotations::kProfile);
}

std::string FoundBy(const ManagedContainer& fungible, const MeasuredProfile& measured) {
  if (fungible.hint) return std::string(ToString(*fungible.hint));
  return measured.taken ? std::string(ToString(measured.taken->by)) : "exact";
}

void RemarkOnHint(const ManagedContainer& fungible, const MeasuredProfile& measured,
                  std::vector<std::string>& remarks) {
  if (fungible.hint) {
    remarks.push_back(fmt::format(
        "its profile is a hint, because it was measured on pods that are alike by {}; until a "
        "window of its own agrees it has no less than its fair share",
        ToText(*fungible.hint)));
  } else if (measured.taken) {
    remarks.push_back(
        fmt::format("its profile has the points of profile {}, of pods that are alike by {}: a "
                    "window of its own agrees with them",
                    measured.taken->profile, ToText(measured.taken->by)));
  }
}

// Returns the names of the node's pods with these uids.
std::vector<std::string> NamesOf(const std::vector<std::string>& uids, const std::string& node,
                                 const ClusterSnapshot* cluster) {
  std::vector<std::string> names;
  const auto index = cluster != nullptr ? cluster->Find(node) : std::nullopt;
  if (!index) return names;
  for (const auto& pod : cluster->node(*index).detail->pods) {
    if (std::find(uids.begin(), uids.end(), pod->uid) != uids.end()) names.push_back(pod->Key());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Adds the results of packs from the profiles of the pod's workload, newest first.
void RemarkOnPacks(const Pod& pod, const Profiles& profiles, WallTime now,
                   std::vector<std::string>& remarks) {
  constexpr size_t kMost = 5;
  if (pod.fungible->workload.empty()) return;
  std::vector<std::pair<const ProfileObject*, const PackRecord*>> known;
  for (const auto& [key, object] : profiles.all()) {
    if (object.profile_namespace != pod.pod_namespace || !object.kept_by_us ||
        object.workload != pod.fungible->workload) {
      continue;
    }
    for (const PackRecord& record : object.packing) known.emplace_back(&object, &record);
  }
  std::stable_sort(known.begin(), known.end(),
                   [](const auto& a, const auto& b) { return a.second->at > b.second->at; });
  for (size_t index = 0; index < std::min(known.size(), kMost); ++index) {
    const auto& [object, record] = known[index];
    const Duration rest = record->at + record->rest - now;
    remarks.push_back(fmt::format(
        "at the same time as workload {} on {} it has {:.2f} of its speed alone, and the other "
        "{:.2f}: {}",
        record->with, object->training.gpu_product, record->speed, record->other_speed,
        record->good              ? std::string("good")
        : rest > Duration::zero() ? "refused, and not tried again for " + ToShortText(rest)
                                  : std::string("refused, and may be tried again")));
  }
  if (known.size() > kMost) {
    remarks.push_back(fmt::format("{} older results of packs: kubectl synergy profiles {}",
                                  known.size() - kMost, known.back().first->name));
  }
}

void RemarkOnTurns(const Pod& pod, const TurnReading& reading, const PodFacts& facts, WallTime now,
                   std::vector<std::string>& remarks) {
  const std::optional<GpuTurn>& turn = pod.fungible->turn;
  std::string beside;
  if (turn && !turn->beside.empty()) {
    const std::vector<std::string> names = NamesOf({turn->beside}, pod.node, facts.cluster.get());
    beside = fmt::format("it runs packed: at the same time as {} on its GPU",
                         names.empty() ? "another pod" : names.front());
  }
  if (!reading.refusal.empty()) {
    remarks.push_back(
        fmt::format("it takes no turns on its GPU, and is never suspended: {}", reading.refusal));
  } else if (!turn && pod.IsOfGang()) {
    remarks.emplace_back(
        "it takes no turns: no other pod that trains has a GPU of its gang, or a member "
        "of the gang is missing or cannot be suspended");
  } else if (!turn) {
    remarks.emplace_back("no other pod that trains has its GPU, so it takes no turns");
  } else if (turn->with.empty() && beside.empty()) {
    remarks.emplace_back(
        "no other pod that trains has its GPU, so it is not suspended; other members of its gang "
        "take turns");
  } else if (turn->with.empty()) {
    remarks.push_back(fmt::format("{}, so neither waits", beside));
  } else {
    const std::vector<std::string> names = NamesOf(turn->with, pod.node, facts.cluster.get());
    const std::string with = names.empty() ? fmt::format("{} other pods", turn->with.size())
                                           : fmt::format("{}", fmt::join(names, ", "));
    const auto next = turn->NextSwitch(now);
    remarks.push_back(fmt::format("{}; it takes turns of {} with {}",
                                  !reading.suspended ? std::string("it is its turn on the GPU")
                                  : next ? "suspended; its next turn in " + ToShortText(*next - now)
                                         : std::string("suspended"),
                                  ToShortText(turn->runs.front().end - turn->runs.front().begin),
                                  with));
    if (!beside.empty()) remarks.push_back(beside);
  }
}

void RemarkOnProfile(const Pod& pod, const PodFacts& facts, std::vector<std::string>& remarks) {
  const Profiles& profiles = facts.profiles;
  const ManagedContainer& fungible = *pod.fungible;
  const std::string_view wanted = FindLabel(pod.labels, annotations::kProfile).value_or("");
  if (pod.SharesGpus()) {
    remarks.emplace_back(
        "it shares GPUs, so it is not measured; it has the amounts that its author wrote, else its "
        "slices' part of a node's CPU and memory");
    return;
  }
  if (fungible.profile.empty()) {
    remarks.push_back(wanted.empty() ? WhyUnmeasured(facts.progress.Of(pod.uid))
                                     : fmt::format("its profile {} was not usable when the pod was "
                                                   "created, so it has its fair share",
                                                   wanted));
    return;
  }
  const ProfileObject* object = profiles.Find(pod.pod_namespace, fungible.profile);
  if (object == nullptr) {
    remarks.push_back(
        fmt::format("the profile {} does not exist (any more), so the pod's CPU and memory stay "
                    "unless other pods need them",
                    fungible.profile));
  } else if (!object->profile && object->problems.empty()) {
    remarks.push_back(fmt::format("the profile {} has no measurements yet", fungible.profile));
  } else if (!object->profile) {
    remarks.push_back(fmt::format("the profile {} is invalid: {}", fungible.profile,
                                  object->problems.empty() ? "" : object->problems.front()));
  } else if (object->PointsGeneration() != fungible.profile_generation && !object->measured) {
    remarks.push_back(
        fmt::format("the profile {} has changed since the pod was admitted (generation {}, "
                    "admitted with {}); the pod's demand and floor stay",
                    fungible.profile, object->generation, fungible.profile_generation));
  }
  if (object != nullptr && object->measured) RemarkOnHint(fungible, *object->measured, remarks);
  if (object != nullptr && object->measured && !object->measured->note.empty())
    remarks.push_back(fmt::format("of its profile: {}", object->measured->note));
}

void RemarkOnChanges(const ManagedContainer& fungible, WallTime now,
                     std::vector<std::string>& remarks) {
  if (fungible.ChangedByHand()) {
    remarks.emplace_back(
        "another client has resized it since Synergy's last change, so Synergy does not change it "
        "any more");
  }
  if (fungible.unshrinkable_until && *fungible.unshrinkable_until > now) {
    remarks.push_back(
        fmt::format("a recent attempt to make it smaller failed; the next one is not before {}",
                    ToTimeText(*fungible.unshrinkable_until)));
  }
  if (fungible.memory_let_be) {
    remarks.emplace_back(
        "an OOM kill followed a change of its memory, which is not changed any more");
  }
}

// Adds why a running pod is not resized, if it might lose its GPUs in a resize.
void RemarkOnDevices(const Pod& pod, const ClusterSnapshot* cluster,
                     std::vector<std::string>& remarks) {
  if (pod.node.empty()) return;
  const auto place = cluster != nullptr ? cluster->Find(pod.node) : std::nullopt;
  const DeviceReading devices = DevicesOf(pod, place ? cluster->node(*place) : EmptyNode({}));
  if (devices.safety == DeviceSafety::kSafe) return;
  remarks.push_back(fmt::format(
      "its CPU and memory are not changed, because a resize may cost it its GPUs (devices: {}): {}",
      ToString(devices.safety), devices.why));
}

void RemarkOnHealth(const std::vector<wire::UnhealthyDevice>& devices, const std::string& node,
                    std::vector<std::string>& remarks) {
  const auto is_unknown = [](const wire::UnhealthyDevice& device) {
    return device.health == "Unknown";
  };
  if (!std::all_of(devices.begin(), devices.end(), is_unknown)) {
    remarks.push_back(fmt::format(
        "it has unhealthy devices until it ends: delete it, so that its replacement gets healthy "
        "ones; `kubectl describe node {}` shows the GPUs' problem (SynergyGpuUnhealthy)",
        node));
  }
  if (std::any_of(devices.begin(), devices.end(), is_unknown)) {
    remarks.push_back(
        fmt::format("the health of some devices is Unknown to the kubelet: check that their device "
                    "plugin and driver run on node {}",
                    node));
  }
}

std::string DevicesText(const std::vector<wire::UnhealthyDevice>& devices) {
  std::string text;
  for (const auto& [container, resource, id, health, message] : devices) {
    text += fmt::format("Device {} {} of container {}: {}{}\n", resource, id, container, health,
                        message.empty() ? "" : ": " + message);
  }
  return text;
}

Tree DevicesTree(const std::vector<wire::UnhealthyDevice>& devices) {
  Tree::List list;
  for (const auto& [container, resource, id, health, message] : devices) {
    list.push_back(Tree::Members{{"container", container},
                                 {"resource", resource},
                                 {"id", id},
                                 {"health", health},
                                 {"message", message}});
  }
  return list;
}

// Adds which pod's place is held, from the extender's text in kube-scheduler's message. Only the
// extender knows these vacant places; judging by the nodes alone, their room looks free.
void RemarkOnVacantPlaces(const Waits& waits, std::vector<std::string>& remarks) {
  const size_t found = waits.message.find(kHeldForReplacement);
  if (found == std::string::npos) return;
  const std::string_view rest =
      std::string_view(waits.message).substr(found + kHeldForReplacement.size());
  remarks.push_back(
      fmt::format("free room is reserved for the replacement of {}: until that pod is placed, at "
                  "most for the extender's replacementHold",
                  rest.substr(0, rest.find(','))));
}

void RemarkOnReservedGpus(const Waits& waits, std::vector<std::string>& remarks) {
  if (waits.message.find(kReservedFor) == std::string::npos) return;
  remarks.emplace_back(
      "GPUs are reserved for a job that has waited for long; the pod may run there before if it "
      "ends in time: by its spec.activeDeadlineSeconds, by how long its workload has taken, or by "
      "its annotation synergy.io/expected-duration");
}

Tree ReservationTree(const PublishedReservation& reservation) {
  Tree::List places;
  for (const GpuReservation::Place& place : reservation.places)
    places.push_back(Tree::Members{{"node", place.node}, {"gpus", place.gpus.count()}});
  Tree::List jobs;
  for (const std::string& job : reservation.waits_for) jobs.emplace_back(job);
  return Tree::Members{{"earliest", ToTimeText(reservation.earliest)},
                       {"likely", ToTimeText(reservation.likely)},
                       {"latest", ToTimeText(reservation.latest)},
                       {"places", std::move(places)},
                       {"waitsFor", std::move(jobs)}};
}

bool IsRelevant(const wire::EventAboutPod& event) {
  return event.reason.starts_with("Synergy") ||
         event.component.find("scheduler") != std::string::npos;
}

std::string Ago(WallTime then, WallTime now) { return ToShortText(now - then); }

std::string ChangeText(const ChangeRecord& change, WallTime now) {
  return fmt::format("{} ago, {} ({} -> {}): {}", Ago(change.at, now), ToString(change.kind),
                     DescribeCpuAndMemory(change.from), DescribeCpuAndMemory(change.to),
                     change.why);
}

std::string AmountsTable(const Explanation& explanation) {
  const PodView& pod = explanation.pod;
  std::vector<std::vector<std::string>> rows{
      {"", "ALLOCATED", "IN FORCE", "FLOOR", "FAIR SHARE", "DEMAND"}};
  const auto row = [&](const char* name, auto text) {
    const auto one = [&](const std::optional<ResourceVector>& amounts) {
      return amounts ? text(*amounts) : std::string("-");
    };
    rows.push_back({name, text(pod.allocated), one(explanation.in_force), one(pod.floor),
                    one(pod.fair_share), one(pod.demand)});
  };
  row("CPU", [](const ResourceVector& amounts) { return ToQuantityText(amounts.cpu); });
  row("memory", [](const ResourceVector& amounts) { return ToReadableText(amounts.memory); });
  return FormatTable(rows, 2);
}

std::string NodesText(const std::vector<NodeVerdict>& nodes) {
  std::vector<std::vector<std::string>> rows{{"NODE", "FREE GPUS", "CPU", "MEMORY", ""}};
  rows.reserve(nodes.size() + 1);
  for (const auto& [node, free, slices, reason] : nodes) {
    rows.push_back({node, ToText({free.gpus, slices}), ToQuantityText(free.cpu),
                    ToReadableText(free.memory), reason.empty() ? "room for it now" : reason});
  }
  return FormatTable(rows, 2);
}

Tree NodesTree(const std::vector<NodeVerdict>& nodes) {
  Tree::List list;
  list.reserve(nodes.size());
  for (const auto& [node, free, slices, reason] : nodes) {
    Tree::Members amounts{{"gpus", free.gpus.count()},
                          {"cpu", ToQuantityText(free.cpu)},
                          {"memory", ToQuantityText(free.memory)}};
    if (slices > Slices(0)) amounts.emplace_back("slices", slices.count());
    list.push_back(Tree::Members{{"node", node}, {"free", std::move(amounts)}, {"reason", reason}});
  }
  return list;
}

std::string WaitsText(const Waits& waits, WallTime now, bool each_node) {
  std::string text = fmt::format("Waits for {}", waits.scheduler);
  const auto since = ParseTime(waits.since);
  if (since) text += fmt::format(", unschedulable for {}", Ago(*since, now));
  text += '\n';
  if (!waits.message.empty()) text += fmt::format("  {}\n", waits.message);
  if (waits.reservation) text += fmt::format("  {}\n", DescribeStart(*waits.reservation, now));
  if (!waits.avoids.empty()) {
    text += fmt::format("  it avoids {} after failures there, as long as others have room\n",
                        fmt::join(waits.avoids, ", "));
  }
  if (!waits.kept_on.empty()) {
    text += fmt::format("  a place is reserved on node {}; CPU and memory are being freed there\n",
                        waits.kept_on);
  }
  if (each_node) text += NodesText(waits.nodes);
  std::vector<std::vector<std::string>> rows;
  rows.reserve(waits.obstacles.size());
  for (const NodeObstacle& obstacle : waits.obstacles) {
    rows.push_back({fmt::format("{} nodes", obstacle.nodes), obstacle.reason});
  }
  if (waits.nodes_with_room > 0) {
    rows.push_back({fmt::format("{} nodes", waits.nodes_with_room), "room for it now"});
  }
  text += FormatTable(rows, 2);
  if (waits.nodes_by_reclaim > 0) {
    text += fmt::format("  on {} of them the pods' surplus is sufficient: the tuner reclaims it\n",
                        waits.nodes_by_reclaim);
  }
  return text;
}

// Adds the amounts of a managed pod, and the reasons for them.
void ExplainManaged(const ManagedContainer& fungible, const PodFacts& facts, WallTime now,
                    Explanation& explanation) {
  const Pod& pod = facts.pod;
  explanation.enforcement = std::string(ToString(fungible.enforcement));
  explanation.profile_generation = fungible.profile_generation;
  if (!pod.node.empty()) explanation.in_force = fungible.in_force;
  explanation.resize_message = fungible.resize_message;
  explanation.change = fungible.change;
  if (fungible.placeholder) {
    explanation.remarks.emplace_back(
        "its CPU and memory are placeholders: synergy-controller sets them when a node has room "
        "for it; until then it is not scheduled");
  }
  const ProfileObject* const object = facts.profiles.Find(pod.pod_namespace, fungible.profile);
  if (object != nullptr && object->measured) {
    explanation.measured = std::string(ConfidenceOf(*object->measured));
    explanation.found_by = FoundBy(fungible, *object->measured);
  }
  if (fungible.ProbedAt(now)) {
    explanation.remarks.push_back(fmt::format(
        "a probe is running: its CPU is limited to {} until {} at most, to measure its speed",
        ToQuantityText(fungible.probe->cpu), ToTimeText(fungible.probe->until)));
  }
  if (fungible.BurstsAt(now)) {
    explanation.remarks.push_back(fmt::format(
        "a burst is running: it may use up to {} of CPU until {} at most, which other pods of "
        "its node leave unused, to measure its speed",
        ToQuantityText(fungible.probe->cpu), ToTimeText(fungible.probe->until)));
  }
  if (fungible.Counted(fungible.floor) != fungible.floor) {
    explanation.remarks.push_back(
        fmt::format("its node counts at least {} for it as long as it exists, because its init "
                    "containers request that",
                    DescribeCpuAndMemory(fungible.Counted(fungible.floor))));
  }
  if (explanation.pod.progress && explanation.pod.progress->pod.turn)
    RemarkOnTurns(pod, *explanation.pod.progress->pod.turn, facts, now, explanation.remarks);
  if (pod.SharesGpus()) RemarkOnPacks(pod, facts.profiles, now, explanation.remarks);
  RemarkOnProfile(pod, facts, explanation.remarks);
  RemarkOnChanges(fungible, now, explanation.remarks);
  RemarkOnDevices(pod, facts.cluster.get(), explanation.remarks);
}

}  // namespace

Explanation Explain(const PodFacts& facts, WallTime now) {
  const Pod& pod = facts.pod;
  Explanation explanation;
  explanation.pod = View(pod, facts.cluster.get(), facts.profiles, now);
  SetProgress(explanation.pod, facts.progress.Of(pod.uid));
  explanation.remarks = facts.notes;
  if (pod.devices) {
    explanation.gpus_by_claims = pod.devices->gpus;
    explanation.claims = pod.devices->claims;
  }
  for (const std::string& warning : pod.warnings)
    explanation.remarks.push_back("when it was created: " + warning);
  if (pod.fungible) {
    ExplainManaged(*pod.fungible, facts, now, explanation);
  } else {
    RemarkOnUnmanaged(pod, explanation.remarks);
  }
  if (facts.cluster && !pod.node.empty()) {
    if (const auto index = facts.cluster->Find(pod.node)) {
      explanation.node = View(facts.cluster->node(*index), facts.profiles, now);
    }
  }
  explanation.unhealthy_devices = facts.unhealthy_devices;
  RemarkOnHealth(facts.unhealthy_devices, pod.node, explanation.remarks);
  if (pod.gang) explanation.gang = View(*pod.gang, facts.cluster.get());
  if (pod.waiting && pod.node.empty()) {
    explanation.waits = ExplainWaiting(pod, facts.cluster.get(), now);
    if (facts.reservation && facts.reservation->until > now)
      explanation.waits->reservation = facts.reservation;
    explanation.waits->avoids = facts.avoids;
    RemarkOnVacantPlaces(*explanation.waits, explanation.remarks);
    RemarkOnReservedGpus(*explanation.waits, explanation.remarks);
    if (pod.gated)
      explanation.remarks.emplace_back("it has scheduling gates and is not scheduled yet");
  }
  std::copy_if(facts.events.begin(), facts.events.end(), std::back_inserter(explanation.events),
               IsRelevant);
  return explanation;
}

Tree ToTree(const Explanation& explanation, bool each_node) {
  Tree::List claims;
  for (const std::string& claim : explanation.claims) claims.emplace_back(claim);
  Tree::List remarks;
  for (const std::string& remark : explanation.remarks) remarks.emplace_back(remark);
  Tree change;
  if (explanation.change) {
    change = Tree::Members{{"kind", ToString(explanation.change->kind)},
                           {"from", ToTree(explanation.change->from)},
                           {"to", ToTree(explanation.change->to)},
                           {"why", explanation.change->why},
                           {"at", ToTimeText(explanation.change->at)}};
  }
  Tree waits;
  if (explanation.waits) {
    Tree::List obstacles;
    for (const NodeObstacle& obstacle : explanation.waits->obstacles) {
      obstacles.push_back(Tree::Members{{"reason", obstacle.reason},
                                        {"nodes", static_cast<int64_t>(obstacle.nodes)}});
    }
    waits = Tree::Members{
        {"scheduler", explanation.waits->scheduler},
        {"since", explanation.waits->since},
        {"message", explanation.waits->message},
        {"keptOn", explanation.waits->kept_on},
        {"reservation", explanation.waits->reservation
                            ? ReservationTree(*explanation.waits->reservation)
                            : Tree()},
        {"avoids", Tree::List(explanation.waits->avoids.begin(), explanation.waits->avoids.end())},
        {"obstacles", std::move(obstacles)},
        {"nodesWithRoom", static_cast<int64_t>(explanation.waits->nodes_with_room)},
        {"nodesByReclaim", static_cast<int64_t>(explanation.waits->nodes_by_reclaim)},
        {"nodes", each_node ? NodesTree(explanation.waits->nodes) : Tree()}};
  }
  return Tree::Members{{"pod", ToTree(explanation.pod)},
                       {"gpusByClaims", explanation.gpus_by_claims.count()},
                       {"resourceClaims", std::move(claims)},
                       {"enforcement", explanation.enforcement},
                       {"profileGeneration", explanation.profile_generation},
                       {"measured", explanation.measured},
                       {"profileFoundBy", explanation.found_by},
                       {"inForce", explanation.in_force ? ToTree(*explanation.in_force) : Tree()},
                       {"resizeMessage", explanation.resize_message},
                       {"lastChange", std::move(change)},
                       {"node", explanation.node ? ToTree(*explanation.node) : Tree()},
                       {"unhealthyDevices", DevicesTree(explanation.unhealthy_devices)},
                       {"gang", explanation.gang ? ToTree(*explanation.gang) : Tree()},
                       {"waitsFor", std::move(waits)},
                       {"events", ToTree(explanation.events)},
                       {"remarks", std::move(remarks)}};
}

std::string ToText(const Explanation& explanation, WallTime now, bool each_node) {
  const PodView& pod = explanation.pod;
  std::string text =
      fmt::format("Pod {}/{}: {}{}, {}\n", pod.pod_namespace, pod.name, pod.state,
                  pod.node.empty() ? "" : " on node " + pod.node,
                  pod.slices > Slices(0) ? GpusText(pod) + " of GPUs" : DescribeGpus(pod.gpus));
  if (explanation.gpus_by_claims > Gpus(0)) {
    text += fmt::format("GPUs by ResourceClaims {}: {}\n", fmt::join(explanation.claims, ", "),
                        explanation.gpus_by_claims.count());
  }
  if (!pod.profile.empty()) {
    text += fmt::format(
        "Profile {}, {} {}", pod.profile,
        explanation.measured ? "measured (" + *explanation.measured + "), revision" : "generation",
        explanation.profile_generation);
    if (explanation.found_by) text += fmt::format(", found by identity: {}", *explanation.found_by);
    if (explanation.enforcement) text += fmt::format("; enforcement {}", *explanation.enforcement);
    text += '\n';
  }
  text += AmountsTable(explanation);
  if (pod.speed) {
    text += fmt::format("Throughput {:.4g} of at best {:.4g} ({:.0f} %)", pod.speed->now,
                        pod.speed->best, 100 * pod.speed->PartOfBest());
    if (pod.speed->fair > 0) {
      text +=
          fmt::format(", {:.2f} times that of the fair share", pod.speed->now / pod.speed->fair);
    }
    text += '\n';
  }
  if (pod.progress) text += fmt::format("Progress {}\n", ProgressText(*pod.progress));
  if (pod.progress && pod.progress->pod.storage)
    text += fmt::format("Storage {}\n", StorageText(*pod.progress->pod.storage));
  if (explanation.change) {
    text += fmt::format("Last change {}\n", ChangeText(*explanation.change, now));
  }
  if (!explanation.resize_message.empty()) {
    text += fmt::format("Kubelet's message: {}\n", explanation.resize_message);
  }
  if (explanation.node) text += ToText(ShowNodes({*explanation.node}));
  text += DevicesText(explanation.unhealthy_devices);
  if (explanation.gang) text += ToText(*explanation.gang);
  if (explanation.waits) text += WaitsText(*explanation.waits, now, each_node);
  text += EventsText(explanation.events, now);
  for (const std::string& remark : explanation.remarks) text += fmt::format("Note: {}\n", remark);
  return text;
}

}  // namespace synergy::cli
