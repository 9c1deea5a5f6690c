#include <algorithm>

#include "sim/cluster/product/product_simulation.h"

namespace synergy {

void ProductSimulation::Attempt() {
  scheduling_ = false;
  if (reservations_) PlanReservationsNow();
  while (const auto attempt = scheduler_.Try(pods_, now_)) {
    Duration after = options_.latencies.bind;
    for (const Pod& planned : attempt->planned) {
      planned_.insert_or_assign(planned.uid, planned);
      if (reservations_) reservations_->SetPlaced(planned.uid, true);
      if (sharing_ && planned.UsesGpus())
        sharing_->Place(planned.node, SharedPodOf(owners_.at(planned.uid).job));
      Plan(after + faults_.CallDelay(), EventKind::kBound, planned.uid);
      after += options_.latencies.schedule;  // kube-scheduler takes the gang's pods one by one
    }
    NoteLocality(*attempt);
    // A pod that waits for a better place gets an error, which does not make it Unschedulable.
    if (attempt->planned.empty() && !attempt->waits_for_locality) {
      for (const std::string& uid : attempt->uids) MarkUnschedulable(uid);
    }
    if (attempt->evictions) {
      pods_.WriteStatus(attempt->uids.front(), [&](SimulatedPod& pod) {
        pod.waiting.nominated_node = attempt->evictions->node;
      });
      Evict(attempt->evictions->victims);
    }
    if (!attempt->known) return;
  }
}

void ProductSimulation::MarkUnschedulable(const std::string& uid) {
  if (pods_.Find(uid)->waiting.unschedulable) return;
  pods_.WriteStatus(uid, [this](SimulatedPod& pod) {
    pod.waiting.unschedulable = true;
    pod.waiting.since = present().wall;
  });
}

void ProductSimulation::NoteLocality(const SimulatedScheduler::Attempt& attempt) {
  const auto owner = owners_.find(attempt.uids.front());
  if (owner == owners_.end() || !InTrace(owner->second.job)) return;
  JobState& job = jobs_[owner->second.job];
  if (job.pods.size() < 2) return;
  JobPlace& place = run_.places[owner->second.job];
  if (job.kept_since) place.waited_for_locality += now_ - *job.kept_since;
  job.kept_since.reset();
  if (attempt.waits_for_locality) job.kept_since = now_;
  if (attempt.planned.empty()) return;
  const auto snapshot = state_.Snapshot();
  std::vector<NodeIndex> nodes;
  for (const Pod& pod : attempt.planned) nodes.push_back(*snapshot->Find(pod.node));
  place.tier = TierOf(*snapshot, nodes, options_.locality.rack_label);
}

void ProductSimulation::Bind(const std::string& uid) {
  const auto planned = planned_.extract(uid);
  if (planned.empty()) return;  // it was deleted meanwhile
  const Pod& as_planned = planned.mapped();
  if (faults_.CallFails()) {
    // kube-scheduler tries the pod again.
    if (sharing_ && as_planned.UsesGpus()) sharing_->Remove(owners_.at(uid).job, now_);
    // A gang of which other members stay keeps its places.
    if (reservations_ && !IsCpuPod(uid) && jobs_[owners_.at(uid).job].started == 0)
      reservations_->SetPlaced(uid, false);
    scheduler_.BindFailed(pods_.Find(uid)->AsCounted(), now_);
    return;
  }
  pods_.Write(uid, [&](SimulatedPod& pod) {
    pod.node = as_planned.node;
    if (!pod.fungible) return;
    ManagedContainer& fungible = *pod.fungible;
    const ResourceVector& amounts = as_planned.fungible->requested;
    fungible.change = {ChangeKind::kAllocated, fungible.requested, amounts, {}, present().wall};
    fungible.resized_by_us_alone |= fungible.requested != amounts;
    fungible.requested = fungible.in_force = fungible.set_aside = amounts;
  });
  if (IsMeasured(uid)) {
    const size_t job = owners_.at(uid).job;
    Hold(job, jobs_[job].held + as_planned.requests.main.gpus);
  }
  if (!AdmitsAll(as_planned.node)) return Refuse(uid);
  if (queue_) queue_->BindPod(uid, as_planned.node, present());
  Plan(options_.latencies.start, EventKind::kStarted, uid);
  Note(PlaceChange::Kind::kBound, *pods_.Find(uid), as_planned.requests.main);
  if (IsMeasured(uid)) {
    AddPlace(run_.places[owners_.at(uid).job], as_planned.node, as_planned.requests.main);
  }
  Draw();
}

bool ProductSimulation::AdmitsAll(const std::string& name) const {
  const auto node = nodes_.find(name);
  if (!cpu_pods_ || node == nodes_.end()) return true;
  const ResourceVector free = node->second.allocatable.main - pods_.AllocatedOn(name);
  return free.cpu >= MilliCpu(0) && free.memory >= Bytes(0);
}

void ProductSimulation::Refuse(const std::string& uid) {
  if (IsCpuPod(uid)) {
    RemoveCpuPod(uid);
    CreateCpuPod();
    return;
  }
  const size_t job = owners_.at(uid).job;
  Interrupt(job);
  again_.push_back(job);
}

void ProductSimulation::Resize(const std::string& uid) {
  const SimulatedPod* const pod = pods_.Find(uid);
  if (pod == nullptr || lost_.contains(pod->node)) return;
  const auto node = nodes_.find(pod->node);
  const ResourceVector allocatable =
      node == nodes_.end() ? ResourceVector{} : node->second.allocatable.main;
  switch (kubelet_.MakeResize(uid, allocatable, faults_.OfResize())) {
    case SimulatedKubelet::Resize::kNothing:
      return;
    case SimulatedKubelet::Resize::kDeferred:
      Plan(options_.latencies.resize, EventKind::kResize, uid);
      return;
    case SimulatedKubelet::Resize::kInForce:
      running_.SetInForce(pod->node, uid, pod->fungible->in_force, now_);
      if (profiling_) profiling_->OnReport(now_);
      if (IsMeasured(uid)) ++run_.jobs[owners_.at(uid).job].resizes;
      Note(PlaceChange::Kind::kResized, *pod, pod->fungible->in_force);
      return;
  }
}

void ProductSimulation::Note(PlaceChange::Kind kind, const SimulatedPod& pod,
                             const ResourceVector& amounts) {
  if (!options_.keep_changes || IsCpuPod(pod.uid())) return;
  std::optional<uint64_t> job;
  if (IsMeasured(pod.uid())) job = trace_[owners_.at(pod.uid()).job].id;
  run_.changes.push_back({ToSeconds(now_), job, kind, pod.uid(), pod.node, amounts});
}

void ProductSimulation::AddPlace(JobPlace& place, const std::string& node,
                                 const ResourceVector& amounts) {
  place.nodes += (place.nodes.empty() ? "" : " ") + node;
  place.bound_with += amounts;
}

}  // namespace synergy
