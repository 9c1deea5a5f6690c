#include "engine/reservations/passing_check.h"

#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "cluster/labels.h"
#include "cluster/node_selection.h"
#include "cluster/state/fit.h"
#include "engine/reservations/published_reservation.h"

namespace synergy {
namespace {

// Returns whether the pod would fit on the node if only pods that Synergy does not size ran there.
bool HasRoomBesideOthers(const Pod& pod, const NodeState& node) {
  const ResourceVector room = node.allocatable - node.of_others;
  return pod.requests.main.cpu <= room.cpu && pod.requests.main.memory <= room.memory;
}

bool OffersScalars(const Pod& pod, const NodeState& node) {
  const auto& wanted = pod.requests.other.entries();
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    return entry.second <= 0 || entry.second <= node.detail->allocatable.Get(entry.first);
  });
}

}  // namespace

std::string JobOf(const Pod& pod) { return pod.IsOfGang() ? "gang " + pod.gang->name : pod.Key(); }

bool IsSubjectToReservations(const Pod& pod) {
  return !FindLabel(pod.labels, annotations::kKueuePod) &&
         !FindLabel(pod.labels, annotations::kKueuePodSet);
}

bool MayEverGo(const Pod& pod, const NodeState& node) {
  if (CheckFit(pod, node).Has(FitFailures::kGpuProduct)) return false;
  return !pod.waiting || !pod.waiting->selection ||
         MayGoTo(*pod.waiting->selection, node.detail->name, node.detail->labels,
                 node.detail->taints);
}

bool CouldEverRun(const Pod& pod, const NodeState& node) {
  return MayEverGo(pod, node) && HasRoomBesideOthers(pod, node) && OffersScalars(pod, node);
}

bool HasNoOtherNode(const ClusterSnapshot& snapshot, const Pod& pod, Gpus gpus) {
  size_t possible = 0;
  for (NodeIndex index = 0; index < snapshot.size() && possible < 2; ++index) {
    const NodeState& node = snapshot.node(index);
    if (node.exists && gpus <= node.allocatable.gpus && CouldEverRun(pod, node)) ++possible;
  }
  return possible < 2;
}

PassingCheck::PassingCheck(const ClusterSnapshot& snapshot, const Pod& pod,
                           const PassingTerms& terms)
    : snapshot_(snapshot), pod_(pod), terms_(terms), job_(JobOf(pod)) {}

bool PassingCheck::IsReserved(const std::string& node) const {
  return std::any_of(terms_.reservations.begin(), terms_.reservations.end(),
                     [&](const GpuReservation& reservation) {
                       return std::any_of(reservation.places.begin(), reservation.places.end(),
                                          [&](const auto& place) { return place.node == node; });
                     });
}

PassingVerdict PassingCheck::VerdictOn(const NodeState& node, Own& own) const {
  Gpus free = node.allocatable.gpus;
  std::deque<std::string> jobs;  // a deque, because its elements do not move
  std::vector<HeldGpus> held;
  for (const auto& other : node.detail->pods) {
    if (!other->UsesGpus()) continue;
    std::string job = JobOf(*other);
    if (job == job_) {
      if (!pod_.IsOfGang()) continue;
      own.runs |= other->waiting == nullptr;
      own.held += other->requests.main.gpus;
      continue;
    }
    free -= other->requests.main.gpus;
    held.push_back({jobs.emplace_back(std::move(job)), other->requests.main.gpus});
  }
  const PassingPod passing{.job = job_,
                           .priority = pod_.priority,
                           .gpus = pod_.requests.main.gpus,
                           .longest = terms_.longest};
  return MayTake(passing, terms_.reservations, node.detail->name, free, held, terms_.now);
}

bool PassingCheck::HasNoOtherNode() {
  if (!has_no_other_node_)
    has_no_other_node_ = synergy::HasNoOtherNode(snapshot_, pod_, terms_.largest);
  return *has_no_other_node_;
}

const GpuReservation* PassingCheck::RefusedBy(const NodeState& node) {
  if (!node.exists || !IsReserved(node.detail->name)) return nullptr;
  if (pod_.IsOfGang()) {
    const std::optional<OpenPart> open = OpenTo(node);
    return open && open->gpus < pod_.requests.main.gpus ? open->by : nullptr;
  }
  Own own;
  const PassingVerdict verdict = VerdictOn(node, own);
  return verdict.passing != Passing::kRefused || HasNoOtherNode() ? nullptr : verdict.by;
}

std::optional<OpenPart> PassingCheck::OpenTo(const NodeState& node) {
  if (!node.exists || !IsReserved(node.detail->name)) return std::nullopt;
  Own own;
  const PassingVerdict verdict = VerdictOn(node, own);
  const bool is_bounded =
      verdict.passing == Passing::kRefused || verdict.passing == Passing::kLeavesEnough;
  if (!is_bounded || own.runs || HasNoOtherNode()) return std::nullopt;
  return OpenPart{std::max(verdict.open, own.held), verdict.by};
}

std::map<std::string, OpenPart> PartsOpenTo(const ClusterSnapshot& snapshot, const Pod& member,
                                            const PassingTerms& terms) {
  PassingCheck check(snapshot, member, terms);
  std::map<std::string, OpenPart> parts;
  for (const GpuReservation& reservation : terms.reservations) {
    for (const GpuReservation::Place& place : reservation.places) {
      const auto index = snapshot.Find(place.node);
      const auto open = index ? check.OpenTo(snapshot.node(*index)) : std::nullopt;
      if (open) parts.insert_or_assign(place.node, *open);
    }
  }
  return parts;
}

void DropReserved(const ClusterSnapshot& snapshot, const Pod& pod, const PassingTerms& terms,
                  std::vector<NodeVictims>& chosen) {
  PassingCheck passing(snapshot, pod, terms);
  std::erase_if(chosen, [&](const NodeVictims& each) {
    const auto index = snapshot.Find(each.node);
    if (!index) return false;
    NodeState then = WithoutPod(snapshot.node(*index), pod.uid);
    for (const auto& victim : each.victims.pods) then = WithoutPod(then, victim->uid);
    return passing.RefusedBy(then) != nullptr;
  });
}

std::string DescribeRefusal(const GpuReservation& by, const PassingTerms& terms, WallTime wall) {
  const auto text_of = [&](Instant time) { return ToClockText(wall + (time - terms.now), wall); };
  const std::string why = terms.longest
                              ? "this pod may not have ended by " + text_of(by.starts.earliest)
                              : std::string("this pod has no known end");
  return fmt::format("GPUs of {}{}{} until {}; {}", DescribeNodes(by.places), kReservedFor, by.job,
                     text_of(by.starts.likely), why);
}

}  // namespace synergy
