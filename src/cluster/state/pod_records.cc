#include "cluster/state/pod_records.h"

#include <algorithm>
#include <chrono>

namespace synergy {
namespace {

// How long to avoid a node for pods that it could not align, if no pod leaves it.
constexpr Duration kMisalignmentLasts = std::chrono::minutes(5);

bool Claims(const Pod& pod) {
  return (pod.waiting && !pod.waiting->kept_node.empty()) ||
         (pod.fungible && pod.fungible->AnnouncedGrowth() != ResourceVector{});
}

// Returns whether the pod's amounts are known, so that they count for the least per GPU.
bool IsSized(const Pod& pod) { return !pod.fungible || !pod.fungible->placeholder; }

// Records that the pod's node could not align it, if the pod failed for that reason.
void NoteMisalignment(const Pod& pod, NodeLedger& nodes, WallTime now) {
  if (!pod.misaligned || !pod.UsesGpus()) return;
  nodes.Misalign(pod.node, {pod.requests.main.gpus, now + kMisalignmentLasts});
}

}  // namespace

void PodRecords::Put(Pod pod) {
  observed_until_ = std::max(observed_until_, pod.resource_version);
  Observe(std::move(pod));
}

void PodRecords::PutListed(std::vector<Pod> pods, uint64_t observed_until) {
  for (Pod& pod : pods) {
    const Record* const record = Find(pod.uid);
    // A list is never older than the watch's reports. So a bound pod without a node means a
    // restored backup of the API server's store, unless an answer about the pod has overtaken the
    // watch.
    const bool may_unbind = record != nullptr && record->standing == Standing::kBound &&
                            record->seen->resource_version <= observed_until_;
    Observe(std::move(pod), may_unbind);
  }
  // Do not use the larger of both versions: after a restore of the API server's store, versions
  // start lower.
  if (observed_until > 0) observed_until_ = observed_until;
}

bool PodRecords::AnyIsElsewhere(const std::vector<Pod>& pods, const std::string& node) const {
  return std::any_of(pods.begin(), pods.end(), [&](const Pod& pod) {
    const Record* record = Find(pod.uid);
    if (record == nullptr || !(record->standing != Standing::kWaiting || IsNominated(*record)))
      return false;
    return nodes_[record->place].detail->name != node;
  });
}

std::vector<std::string> PodRecords::Unlisted(size_t begin, size_t end) const {
  std::vector<std::string> unlisted;
  for (size_t bucket = begin; bucket < std::min(end, records_.bucket_count()); ++bucket) {
    for (auto it = records_.begin(bucket); it != records_.end(bucket); ++it) {
      if (it->second.seen && it->second.observed_in != list_) unlisted.push_back(it->first);
    }
  }
  return unlisted;
}

void PodRecords::Observe(Pod pod, bool may_unbind) {
  if (pod.terminal) {
    const bool is_news = Find(pod.uid) != nullptr;
    Remove(pod.uid);
    // Record the misalignment only once: later reports do not show the free GPUs of that time.
    if (is_news) NoteMisalignment(pod, nodes_, wall_);
    SettleReplacement(pod.uid, !pod.succeeded);
    return;
  }
  // The pod still exists.
  if (!replacements_.empty()) replacements_.Drop(pod.uid);
  Record& record = records_[pod.uid];
  record.observed_in = list_;
  // A pod never leaves its node while it lives, so such a report is older than the record.
  const bool unbinds = pod.node.empty() && record.standing == Standing::kBound;
  if (unbinds && !may_unbind) return;
  pod = devices_.Observe(std::move(pod));
  LeaveGang(record);
  if (pod.gang) gangs_[pod.gang->name].insert(pod.uid);
  if (!pod.node.empty()) record.of_gang.reset();
  record.seen = std::make_shared<const Pod>(std::move(pod));
  if (keeps_news_) news_.push_back({record.seen, false});
  if (Claims(*record.seen)) {
    claiming_.insert(record.seen->uid);
  } else {
    claiming_.erase(record.seen->uid);
  }
  if (unbinds || !record.seen->node.empty() || record.standing == Standing::kWaiting ||
      IsReserved(record)) {
    ApplyWatch(record);
  } else {
    // The watch is behind Synergy's own decision: the pod stays placed, with its new properties.
    auto placed = std::make_shared<Pod>(*record.seen);
    placed->node = record.pod->node;
    // The pod counts with its new amounts until the watch reports it as bound with them.
    if (record.standing == Standing::kAssumed) {
      placed->requests.main = LargerOf(placed->requests.main, record.pod->requests.main);
    }
    Set(record, std::move(placed), record.standing, record.deadline);
  }
  if (record.seen->gang) LimitReplacements(*record.seen->gang);
}

void PodRecords::CountDevices() {
  // A recount may change other pods' parts of shared devices, so repeat it until none changes.
  for (std::vector<Pod> pods = devices_.TakePods(); !pods.empty(); pods = devices_.TakePods()) {
    for (Pod& pod : pods) {
      const auto record = records_.find(pod.uid);
      if (record == records_.end() || !record->second.seen) continue;
      const uint64_t observed_in = record->second.observed_in;
      Observe(std::move(pod));
      record->second.observed_in = observed_in;
    }
  }
}

void PodRecords::Remove(const std::string& uid) {
  devices_.ForgetPod(uid);
  const auto it = records_.find(uid);
  if (it == records_.end()) return;
  if (keeps_news_ && it->second.seen) news_.push_back({it->second.seen, true});
  LeaveGang(it->second);
  if (it->second.seen && it->second.seen->gang && !gangs_.contains(it->second.seen->gang->name))
    succeeded_.erase(it->second.seen->gang->name);
  Uncount(it->second);
  claiming_.erase(uid);
  const Record gone = std::move(it->second);
  records_.erase(it);
  version_.Advance();
  if (gone.standing == Standing::kBound && gone.pod->UsesGpus()) {
    nodes_.DropMisalignments(gone.place);
  }
  if (!gone.seen || !gone.seen->gang) return;
  if (gone.standing == Standing::kBound) ReserveForReplacement(*gone.pod, *gone.seen->gang);
  LimitReplacements(*gone.seen->gang);
}

void PodRecords::SettleReplacement(const std::string& uid, bool is_awaited) {
  if (is_awaited) {
    replacements_.Settle(uid);
  } else {
    replacements_.Drop(uid);
  }
}

void PodRecords::Refresh(Pod pod) {
  const Record* record = Find(pod.uid);
  if (record == nullptr) return NoteMisalignment(pod, nodes_, wall_);
  if (record->seen != nullptr && record->seen->resource_version > pod.resource_version) return;
  Observe(std::move(pod));
}

void PodRecords::Expect(Pod pod, NodeIndex node, Instant deadline) {
  const Record* record = Find(pod.uid);
  // Keep a reservation, which is certain. An expectation may fail, and other pods could then take
  // the place.
  if (record != nullptr && record->standing != Standing::kWaiting &&
      record->standing != Standing::kExpected)
    return;
  if (node >= nodes_.size() || !nodes_[node].exists) return;
  Place(std::move(pod), nodes_[node].detail->name, Standing::kExpected, deadline);
}

AssumeOutcome PodRecords::Assume(Pod pod, const std::string& node, Instant deadline) {
  const Record* record = Find(pod.uid);
  if (record != nullptr && record->standing == Standing::kBound) {
    return {.bound_to = record->pod->node};
  }
  const auto place = nodes_.Find(node);
  NodeState state = place ? nodes_[*place] : NodeState{};
  // The pod's own earlier share must not block it.
  if (record != nullptr && IsProvisional(*record) && record->place == place) {
    state = WithoutPod(state, *record->pod);
  }
  AssumeOutcome outcome;
  outcome.failures = CheckFit(pod, state);
  if (!outcome.failures.none() && place) {
    // An expectation must not block the pod, either. kube-scheduler counts the pods that it has
    // assumed, so it would not have made this call if the expectation were still valid.
    const auto expected = ExpectedOn(*place, pod.uid);
    for (const auto& other : expected) state = WithoutPod(state, *other);
    outcome.failures = CheckFit(pod, state);
    if (outcome.failures.none()) {
      for (const auto& other : expected) Unplace(other->uid);
    }
  }
  if (outcome.failures.none()) {
    Place(std::move(pod), node, Standing::kAssumed, deadline);
    outcome.assumed = true;
  } else if (record != nullptr && record->standing == Standing::kExpected) {
    Unplace(pod.uid);
  }
  return outcome;
}

void PodRecords::Forget(const std::string& uid) {
  const Record* record = Find(uid);
  if (record != nullptr && record->standing == Standing::kAssumed) Unplace(uid);
}

void PodRecords::ReleaseKept(const std::vector<std::string>& uids) {
  for (const std::string& uid : uids) {
    Record* record = Find(uid);
    if (record == nullptr || !record->seen || !record->seen->waiting) continue;
    const Waiting& waiting = *record->seen->waiting;
    record->released = {waiting.kept_node, waiting.kept_until};
    if (record->standing == Standing::kReservedByTuner) ApplyWatch(*record);
  }
}

std::map<std::string, ResourceVector> PodRecords::BeingGiven() const {
  std::map<std::string, ResourceVector> given;
  for (const std::string& uid : provisional_) {
    const Record& record = records_.at(uid);
    if (record.standing != Standing::kAssumed || !record.seen) continue;
    given[record.pod->pod_namespace] += record.pod->requests.main - record.seen->requests.main;
  }
  return given;
}

void PodRecords::Extend(const std::string& uid, Instant deadline) {
  Record* record = Find(uid);
  if (record != nullptr && record->standing == Standing::kAssumed) record->deadline = deadline;
}

void PodRecords::DropStaleExpectations(Instant now, WallTime wall) {
  wall_ = wall;
  now_ = now;
  replacements_.DropUntil(now);
  nodes_.DropMisalignments(wall);
  const auto stale = ProvisionalIf([&](const Record& record) {
    return (record.standing == Standing::kExpected && record.deadline <= now) ||
           (record.standing == Standing::kReservedByTuner &&
            record.seen->waiting->kept_until <= wall);
  });
  for (const Record* record : stale) Unplace(std::string(record->pod->uid));
  std::vector<std::string> over;
  for (const Record* record : ProvisionalIf(
           [&](const Record& each) { return each.of_gang && each.of_gang->deadline <= now; })) {
    over.push_back(record->pod->uid);
  }
  Release(over);
  LookAtClaims();
}

void PodRecords::LookAtClaims() {
  for (const std::string& uid : claiming_) {
    Record& record = records_.at(uid);
    if (record.standing == Standing::kExpected || record.standing == Standing::kAssumed) continue;
    auto [pod, standing] = FromWatch(record);
    if (standing == record.standing && pod->requests == record.pod->requests) continue;
    Set(record, std::move(pod), standing, Instant{});
  }
}

std::vector<AssumedPod> PodRecords::Expired(Instant now) const {
  std::vector<AssumedPod> expired;
  for (const Record* record : ProvisionalIf([&](const Record& each) {
         return each.standing == Standing::kAssumed && each.deadline <= now;
       })) {
    expired.push_back({record->pod, record->deadline});
  }
  return expired;
}

std::vector<Reservation> PodRecords::Reservations(ReservationKind kind) const {
  if (kind == ReservationKind::kReplacement) return replacements_.All();
  const bool by_tuner = kind == ReservationKind::kTuner;
  std::vector<Reservation> reservations;
  for (const Record* record : ProvisionalIf([by_tuner](const Record& each) {
         return each.standing ==
                (by_tuner ? Standing::kReservedByTuner : Standing::kReservedByGang);
       })) {
    reservations.push_back({.kind = kind,
                            .pod = record->pod,
                            .gang = record->pod->gang ? record->pod->gang->name : std::string(),
                            .until = by_tuner
                                         ? Later(now_, record->seen->waiting->kept_until - wall_)
                                         : record->of_gang->deadline});
  }
  return reservations;
}

std::optional<Placement> PodRecords::FindPlacement(const std::string& uid) const {
  const Record* record = Find(uid);
  if (record == nullptr || !IsProvisional(*record)) return std::nullopt;
  Placement placement{record->place, record->pod, {}};
  if (record->standing == Standing::kAssumed) placement.assumed_until = record->deadline;
  return placement;
}

std::shared_ptr<const Pod> PodRecords::FindPod(const std::string& uid) const {
  const Record* record = Find(uid);
  if (record == nullptr) return nullptr;
  return record->seen ? record->seen : record->pod;
}

void PodRecords::KeepNews() {
  keeps_news_ = true;
  news_.clear();
  for (const auto& [uid, record] : records_) {
    if (record.seen) news_.push_back({record.seen, false});
  }
  std::sort(news_.begin(), news_.end(),
            [](const PodNews& a, const PodNews& b) { return a.pod->uid < b.pod->uid; });
}

void PodRecords::DropNews() {
  keeps_news_ = false;
  news_ = {};
}

std::vector<std::shared_ptr<const Pod>> PodRecords::WaitingPods() const {
  return WaitingIf([](const Pod& pod) { return pod.UsesGpus(); });
}

std::vector<std::shared_ptr<const Pod>> PodRecords::WaitingSharers() const {
  return WaitingIf([](const Pod& pod) { return pod.SharesGpus(); });
}

std::vector<std::shared_ptr<const Pod>> PodRecords::WaitingIf(bool (*is_meant)(const Pod&)) const {
  std::vector<std::shared_ptr<const Pod>> pods;
  for (const auto& [uid, record] : records_) {
    const auto& pod = record.seen;
    if (pod && pod->waiting && is_meant(*pod) && !pod->gated && !pod->deleting) {
      pods.push_back(pod);
    }
  }
  return pods;
}

bool PodRecords::IsProvisional(const Record& record) {
  return record.standing != Standing::kWaiting && record.standing != Standing::kBound;
}

bool PodRecords::IsNominated(const Record& record) {
  const Pod& pod = *record.pod;
  return record.standing == Standing::kWaiting && !pod.deleting && pod.waiting &&
         !pod.waiting->nominated_node.empty();
}

bool PodRecords::TakesGpus(const Record& record) {
  const Pod& pod = *record.pod;
  // A gated pod waits for no GPUs, nor does a pod that is deleted before it is placed.
  return pod.UsesGpus() && (record.standing != Standing::kWaiting || (!pod.gated && !pod.deleting));
}

LeastPerGpu& PodRecords::LeastOf(const Pod& pod) {
  return pod.fungible ? least_per_managed_gpu_ : least_per_gpu_;
}

const PodRecords::Record* PodRecords::Find(const std::string& uid) const {
  const auto it = records_.find(uid);
  return it == records_.end() ? nullptr : &it->second;
}

PodRecords::Record* PodRecords::Find(const std::string& uid) {
  const auto it = records_.find(uid);
  return it == records_.end() ? nullptr : &it->second;
}

void PodRecords::Place(Pod pod, const std::string& node, Standing standing, Instant deadline) {
  auto placed = std::make_shared<Pod>(std::move(pod));
  placed->node = node;
  Record& record = records_[placed->uid];
  Set(record, std::move(placed), standing, deadline);
}

void PodRecords::Unplace(const std::string& uid) {
  Record* record = Find(uid);
  if (record == nullptr) return;
  if (record->seen) {
    ApplyWatch(*record);
  } else {
    Remove(uid);
  }
}

PodRecords::Counted PodRecords::FromWatch(const Record& record) const {
  const std::shared_ptr<const Pod>& seen = record.seen;
  if (!seen->node.empty()) {
    const ResourceVector growth =
        seen->fungible ? seen->fungible->AnnouncedGrowth() : ResourceVector{};
    if (growth == ResourceVector{} ||
        (seen->fungible->announced_until > wall_ && FitsItsNode(*seen))) {
      return {seen, Standing::kBound};
    }
    auto without = std::make_shared<Pod>(*seen);
    without->requests.main -= growth;
    return {std::move(without), Standing::kBound};
  }
  if (record.of_gang) {
    auto placed = std::make_shared<Pod>(*seen);
    placed->node = record.of_gang->node;
    if (FitsItsNode(*placed)) return {std::move(placed), Standing::kReservedByGang};
  }
  const Waiting* waiting = seen->waiting.get();
  if (waiting != nullptr && KeepsPlace(record)) {
    auto placed = std::make_shared<Pod>(*seen);
    placed->node = waiting->kept_node;
    if (FitsItsNode(*placed)) return {std::move(placed), Standing::kReservedByTuner};
  }
  return {seen, Standing::kWaiting};
}

bool PodRecords::KeepsPlace(const Record& record) const {
  const Waiting& waiting = *record.seen->waiting;
  if (waiting.kept_node.empty() || waiting.kept_until <= wall_) return false;
  return !record.released || record.released->node != waiting.kept_node ||
         record.released->until != waiting.kept_until;
}

void PodRecords::ApplyWatch(Record& record) {
  auto [pod, standing] = FromWatch(record);
  Set(record, std::move(pod), standing, Instant{});
}

bool PodRecords::FitsItsNode(const Pod& pod) const {
  const auto place = nodes_.Find(pod.node);
  return place && nodes_[*place].exists && pod.requests.main.FitsWithin(nodes_[*place].allocatable);
}

void PodRecords::Set(Record& record, std::shared_ptr<const Pod> pod, Standing standing,
                     Instant deadline) {
  if (record.pod) Uncount(record);
  record.pod = std::move(pod);
  record.standing = standing;
  record.deadline = deadline;
  Count(record);
  InvalidateGang(record);
  version_.Advance();
}

void PodRecords::Count(Record& record) {
  if (TakesGpus(record)) {
    if (IsSized(*record.pod)) LeastOf(*record.pod).Add(record.pod->requests.main);
    if (record.standing == Standing::kWaiting) ++waiting_gpu_pods_;
  }
  if (IsNominated(record)) record.place = nodes_.Nominate(record.pod);
  if (record.standing == Standing::kWaiting) return;
  if (record.standing == Standing::kAssumed) ++assumed_;
  if (IsProvisional(record)) provisional_.insert(record.pod->uid);
  record.place = nodes_.Count(record.pod);
}

void PodRecords::Uncount(const Record& record) {
  if (TakesGpus(record)) {
    if (IsSized(*record.pod)) LeastOf(*record.pod).Remove(record.pod->requests.main);
    if (record.standing == Standing::kWaiting) --waiting_gpu_pods_;
  }
  if (IsNominated(record)) nodes_.Denominate(*record.pod, record.place);
  if (record.standing == Standing::kWaiting) return;
  if (record.standing == Standing::kAssumed) --assumed_;
  if (IsProvisional(record)) provisional_.erase(record.pod->uid);
  nodes_.Uncount(*record.pod, record.place);
}

template <class IsMeant>
std::vector<const PodRecords::Record*> PodRecords::ProvisionalIf(IsMeant is_meant) const {
  std::vector<const Record*> meant;
  for (const std::string& uid : provisional_) {
    const Record& record = records_.at(uid);
    if (is_meant(record)) meant.push_back(&record);
  }
  return meant;
}

std::vector<std::shared_ptr<const Pod>> PodRecords::ExpectedOn(NodeIndex place,
                                                               const std::string& uid) const {
  std::vector<std::shared_ptr<const Pod>> expected;
  for (const auto& pod : nodes_[place].detail->pods) {
    // A place reserved for a replacement is counted there, but has no record.
    const Record* record = Find(pod->uid);
    if (pod->uid != uid && record != nullptr && record->standing == Standing::kExpected) {
      expected.push_back(pod);
    }
  }
  return expected;
}

}  // namespace synergy
