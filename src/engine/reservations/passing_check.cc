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

const GpuReservation* PassingCheck::RefusedBy(const NodeState& node) {
  if (!node.exists) return nullptr;
  const std::string& name = node.detail->name;
  const bool is_reserved =
      std::any_of(terms_.reservations.begin(), terms_.reservations.end(),
                  [&](const GpuReservation& reservation) {
                    return std::any_of(reservation.places.begin(), reservation.places.end(),
                                       [&](const auto& place) { return place.node == name; });
                  });
  if (!is_reserved) return nullptr;
  Gpus free = node.allocatable.gpus;
  std::deque<std::string> jobs;  // a deque, because its elements do not move
  std::vector<HeldGpus> held;
  for (const auto& other : node.detail->pods) {
    if (!other->UsesGpus()) continue;
    std::string job = JobOf(*other);
    if (job == job_) {
      // Gang members keep access to the places that their gang has or holds.
      if (pod_.IsOfGang()) return nullptr;
      continue;
    }
    free -= other->requests.main.gpus;
    held.push_back({jobs.emplace_back(std::move(job)), other->requests.main.gpus});
  }
  const PassingPod passing{
      .job = job_, .priority = pod_.priority, .gpus = terms_.gpus, .longest = terms_.longest};
  const PassingVerdict verdict =
      MayTake(passing, terms_.reservations, name, free, held, terms_.now);
  if (verdict.passing != Passing::kRefused) return nullptr;
  if (!has_no_other_node_) has_no_other_node_ = HasNoOtherNode(snapshot_, pod_, terms_.largest);
  return *has_no_other_node_ ? nullptr : verdict.by;
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
