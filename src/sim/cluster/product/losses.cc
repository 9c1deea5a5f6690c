#include <algorithm>

#include "sim/cluster/product/product_simulation.h"

namespace synergy {

bool ProductSimulation::HasPodOn(const JobState& job, const std::string& node) const {
  return std::any_of(job.pods.begin(), job.pods.end(),
                     [&](const std::string& uid) { return pods_.Find(uid)->node == node; });
}

void ProductSimulation::LoseNode(const std::string& name) {
  lost_.insert(name);
  Node node = nodes_.at(name);
  node.unschedulable = true;
  PutNode(node);
  if (types_) queue_->NodesChanged(present());
  for (size_t index = 0; index < trace_.size(); ++index) {
    if (!HasPodOn(jobs_[index], name)) continue;
    jobs_[index].broken = true;
    StopCountingRun(index);
    running_.Suspend(index, now_);
    PauseAttempt(index);
  }
  Plan(Faults::kPodsDeleted, EventKind::kPodsDeleted, name);
  Plan(Faults::kNodeBack, EventKind::kNodeBack, name);
}

void ProductSimulation::DeletePodsOf(const std::string& node) {
  for (size_t index = 0; index < trace_.size(); ++index) {
    JobState& job = jobs_[index];
    std::vector<std::string> lost = job.pods;
    std::erase_if(lost, [&](const std::string& uid) { return pods_.Find(uid)->node != node; });
    if (lost.empty()) continue;
    if (!OthersStay(job, lost)) {
      Interrupt(index);
      again_.push_back(index);
      continue;
    }
    LoseMembers(index, lost);
    ReplaceLater(index);
  }
  if (!cpu_pods_) return;
  const std::set<std::string> uids = cpu_pods_->uids();
  for (const std::string& uid : uids) {
    if (pods_.Find(uid)->node != node) continue;
    RemoveCpuPod(uid);
    CreateCpuPod();
  }
}

void ProductSimulation::ReplaceLater(size_t index) {
  jobs_[index].retry_at = now_ + Faults::kReplaced;
  PlanOf(index, Faults::kReplaced, EventKind::kRetry);
}

void ProductSimulation::Evict(const std::vector<std::shared_ptr<const Pod>>& pods) {
  std::map<size_t, std::vector<std::string>> by_job;
  for (const auto& pod : pods) {
    if (IsCpuPod(pod->uid)) {
      RemoveCpuPod(pod->uid);
      CreateCpuPod();
    }
    if (const auto owner = owners_.find(pod->uid); owner != owners_.end())
      by_job[owner->second.job].push_back(pod->uid);
  }
  for (const auto& [index, uids] : by_job) {
    OthersStay(jobs_[index], uids) ? LoseMembers(index, uids) : Interrupt(index);
    ReplaceLater(index);
  }
}

bool ProductSimulation::OthersStay(const JobState& job,
                                   const std::vector<std::string>& lost) const {
  return std::any_of(job.pods.begin(), job.pods.end(), [&](const std::string& uid) {
    return HasStarted(uid) && std::find(lost.begin(), lost.end(), uid) == lost.end();
  });
}

bool ProductSimulation::HasStarted(const std::string& uid) const {
  const SimulatedPod& pod = *pods_.Find(uid);
  return !pod.waits() && pod.fungible->reported && !lost_.contains(pod.node);
}

void ProductSimulation::LoseMembers(size_t index, const std::vector<std::string>& lost) {
  JobState& job = jobs_[index];
  if (std::exchange(job.goes, false)) {
    --going_;
    --running_jobs_;
  }
  StopCountingRun(index);
  PauseAttempt(index);
  running_.Suspend(index, now_);
  const std::string gang = pods_.Find(lost.front())->gang()->name;
  // The extender does this every second, and its reservations are timed from that moment.
  state_.DropStaleExpectations(now_, present().wall);
  for (const std::string& uid : lost) {
    const SimulatedPod& pod = *pods_.Find(uid);
    if (queue_) queue_->RemovePod(uid, present());
    if (reservations_) reservations_->Lose(uid);
    Note(PlaceChange::Kind::kGone, pod, pod.CountedByKubeScheduler());
    running_.Stop(pod.node, uid, now_);
    if (!pod.waits()) Hold(index, job.held - pod.CountedByKubeScheduler().gpus);
    pods_.Remove(uid);
    job.missing.push_back(owners_.at(uid).ordinal);
    owners_.erase(uid);
    std::erase(job.pods, uid);
  }
  // The extender queries the API server about the replaced pods, and gets the answer at once.
  for (const Reservation& place : state_.ReplacementsOf(gang))
    state_.SettleReplacement(place.pod->uid, true);
  Plan(kReplacementHold, EventKind::kVacanciesEnd, {});
  JobPlace& place = run_.places[index];
  place.nodes.clear();
  place.bound_with = {};
  job.started = 0;
  job.broken = false;
  for (const std::string& uid : job.pods) {
    const SimulatedPod& pod = *pods_.Find(uid);
    job.started += HasStarted(uid) ? 1 : 0;
    job.broken |= lost_.contains(pod.node);
    if (!pod.waits()) AddPlace(place, pod.node, pod.CountedByKubeScheduler());
  }
  running_.KeepStarted(index, job.started, now_);
  progressed_ = now_;
  scheduler_.PodsDeleted(now_);
  Draw();
}

void ProductSimulation::CreateCpuPod() {
  const Pod pod = cpu_pods_->Come(options_.pod_namespace, present().wall);
  pods_.Create(pod);
  scheduler_.Add(pod, now_);
}

void ProductSimulation::RemoveCpuPod(const std::string& uid) {
  running_.Stop(pods_.Find(uid)->node, uid, now_);
  pods_.Remove(uid);
  cpu_pods_->Go(uid);
  Draw();
}

void ProductSimulation::ReturnNode(const std::string& name) {
  lost_.erase(name);
  PutNode(nodes_.at(name));
  scheduler_.NodeReturned();
  if (types_) queue_->NodesChanged(present());
  more_gpus_ = true;  // its GPUs are known again
  if (const auto lost = faults_.UntilNodeLost()) Plan(*lost, EventKind::kNodeLost, name);
}

}  // namespace synergy
