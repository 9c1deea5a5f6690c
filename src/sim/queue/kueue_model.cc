#include "sim/queue/kueue_model.h"

#include <algorithm>
#include <chrono>

#include "core/check.h"

namespace synergy {
namespace {

// Time until Kueue reconsiders a workload whose check was answered with Retry
// (status.requeueState).
constexpr Duration kAfterRetry = std::chrono::seconds(1);

}  // namespace

void KueueModel::AddQueue(const KueueQueue& queue) {
  ClusterQueue object;
  object.name = queue.name;
  for (const auto& [flavor, quota] : queue.quotas) {
    object.flavors.push_back(flavor);
    object.quota += quota;
    objects_.flavors.Upsert({.name = flavor});
  }
  object.preemption = queue.preemption;
  if (queue.checks_types) {
    object.checks = {std::string(kTypeCheckName)};
    objects_.checks.Upsert({.name = std::string(kTypeCheckName),
                            .uid = std::string(kTypeCheckName),
                            .controller = std::string(kTypeCheckController),
                            .active = true});
  }
  objects_.cluster_queues.Upsert(object);
  const size_t slash = queue.local_queue.find('/');
  objects_.local_queues.Upsert({.queue_namespace = queue.local_queue.substr(0, slash),
                                .name = queue.local_queue.substr(slash + 1),
                                .cluster_queue = queue.name});
  local_queues_[queue.local_queue] = queue.name;
  queues_[queue.name].spec = queue;
}

void KueueModel::Put(const RoundPolicy& policy) { objects_.policies.Upsert(policy); }

void KueueModel::Remove(const RoundPolicy& policy) { objects_.policies.Remove(policy); }

void KueueModel::Store(Entry& entry, Workload changed) {
  changed.resource_version = std::to_string(++versions_);
  entry.object = std::make_shared<const Workload>(std::move(changed));
  workloads_.insert_or_assign(entry.object->Key(), entry.object);
  workloads_changed_ = true;
}

void KueueModel::SetTimer(Duration after, Timer timer, const std::string& name, uint64_t admission,
                          Moment at) {
  timers_.emplace(at.now + after, ++numbers_, timer, name, admission);
}

void KueueModel::WakeScheduler(const std::string& queue, Moment at) {
  if (std::exchange(queues_.at(queue).due, true)) return;
  SetTimer(delays_.schedule, Timer::kSchedule, queue, 0, at);
}

void KueueModel::Create(Workload workload, Moment at) {
  const auto queue = local_queues_.find(workload.workload_namespace + "/" + workload.local_queue);
  SYNERGY_CHECK(queue != local_queues_.end(), "the workload's LocalQueue is known");
  Entry& entry = entries_[workload.name];
  entry.queue = queue->second;
  workload.has_quota = workload.evicted = workload.finished = false;
  workload.created = workload.quota_since = at.wall;
  Store(entry, std::move(workload));
  WakeScheduler(entry.queue, at);
}

void KueueModel::PutJob(QueuedJob job) {
  job.resource_version = std::to_string(++versions_);
  objects_.jobs.Upsert(std::move(job));
}

void KueueModel::PutPod(QueuedPod pod) {
  auto shared = std::make_shared<const QueuedPod>(std::move(pod));
  pods_.insert_or_assign(shared->uid, shared);
  pods_changed_ = true;
}

void KueueModel::RemovePod(const std::string& uid) { pods_changed_ |= pods_.erase(uid) > 0; }

void KueueModel::PodsGone(const std::string& name, Moment at) {
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.done) return;
  SetTimer(delays_.release, Timer::kRelease, name, found->second.admissions, at);
}

void KueueModel::Finish(const std::string& name, Moment at) {
  Entry& entry = entries_.at(name);
  if (std::exchange(entry.done, true)) return;
  SetTimer(delays_.release, Timer::kRelease, name, entry.admissions, at);
}

Instant KueueModel::wake() const {
  return timers_.empty() ? Instant::max() : std::get<Instant>(*timers_.begin());
}

std::vector<KueueAction> KueueModel::Run(Moment at) {
  std::vector<KueueAction> actions;
  while (wake() <= at.now) {
    const auto [due, number, timer, name, admission] = *timers_.begin();
    timers_.erase(timers_.begin());
    if (timer == Timer::kSchedule) {
      Queue& queue = queues_.at(name);
      queue.due = false;
      Schedule(queue, at);
      continue;
    }
    const auto found = entries_.find(name);
    if (found == entries_.end() || found->second.admissions != admission) continue;
    const Entry& entry = found->second;
    if (timer == Timer::kRelease) {
      Release(name, at);
    } else if (timer == Timer::kStop) {
      if (!entry.done) actions.push_back({KueueAction::Kind::kStop, name});
    } else if (!entry.object->evicted && !entry.done) {
      const std::vector<CheckState>& checks = entry.object->checks;
      actions.push_back({KueueAction::Kind::kStart, name,
                         checks.empty() ? "" : checks.front().product, entry.object->pods});
    }
  }
  return actions;
}

void KueueModel::Schedule(Queue& queue, Moment at) {
  std::vector<Entry*> waiting;
  for (auto& [name, entry] : entries_) {
    const Workload& workload = *entry.object;
    if (entry.queue == queue.spec.name && !entry.done && !workload.has_quota && workload.active &&
        workload.requeue_at <= at.wall)
      waiting.push_back(&entry);
  }
  std::sort(waiting.begin(), waiting.end(), [](const Entry* a, const Entry* b) {
    const Workload& one = *a->object;
    const Workload& other = *b->object;
    return std::tie(other.priority, one.created, one.uid) <
           std::tie(one.priority, other.created, other.uid);
  });
  for (Entry* const entry : waiting) {
    if (Admit(queue, *entry, at)) continue;
    if (!entry->object->inadmissible) {
      Workload tried = *entry->object;
      tried.inadmissible = true;
      Store(*entry, std::move(tried));
    }
    if (Preempt(queue, *entry, at) || queue.spec.strict) return;
  }
}

bool KueueModel::Admit(Queue& queue, Entry& entry, Moment at) {
  if (queue.spec.admits && !queue.spec.admits(*entry.object)) return false;
  for (const auto& [flavor, quota] : queue.spec.quotas) {
    Gpus& used = queue.used[flavor];
    if (used + entry.object->gpus > quota) continue;
    used += entry.object->gpus;
    entry.flavor = flavor;
    ++entry.admissions;
    Workload admitted = *entry.object;
    admitted.has_quota = true;
    admitted.inadmissible = false;
    admitted.quota_since = at.wall;
    if (queue.spec.checks_types) {
      admitted.checks = {{.name = std::string(kTypeCheckName),
                          .state = std::string(ToString(CheckPhase::kPending)),
                          .product = {},
                          .message = {},
                          .since = at.wall}};
    } else {
      SetTimer(delays_.start, Timer::kStart, admitted.name, entry.admissions, at);
    }
    Store(entry, std::move(admitted));
    return true;
  }
  return false;
}

bool KueueModel::Preempt(Queue& queue, const Entry& entry, Moment at) {
  if (queue.spec.preemption != "LowerPriority") return false;
  if (queue.spec.admits && !queue.spec.admits(*entry.object)) return false;
  for (const auto& [flavor, quota] : queue.spec.quotas) {
    const std::vector<Entry*> victims = VictimsFor(queue, flavor, quota, *entry.object);
    for (Entry* const victim : victims) {
      if (!victim->object->evicted) Evict(*victim, at);
    }
    if (!victims.empty()) return true;
  }
  return false;
}

std::vector<KueueModel::Entry*> KueueModel::VictimsFor(const Queue& queue,
                                                       const std::string& flavor, Gpus quota,
                                                       const Workload& workload) {
  std::vector<Entry*> candidates;
  for (auto& [name, entry] : entries_) {
    const Workload& other = *entry.object;
    if (entry.queue == queue.spec.name && other.has_quota && entry.flavor == flavor &&
        other.priority < workload.priority)
      candidates.push_back(&entry);
  }
  std::sort(candidates.begin(), candidates.end(), [](const Entry* a, const Entry* b) {
    const Workload& one = *a->object;
    const Workload& other = *b->object;
    return std::tuple(!one.evicted, one.priority, other.quota_since, one.uid) <
           std::tuple(!other.evicted, other.priority, one.quota_since, other.uid);
  });
  const auto used = queue.used.find(flavor);
  Gpus free = quota - (used == queue.used.end() ? Gpus(0) : used->second);
  std::vector<Entry*> victims;
  for (Entry* const candidate : candidates) {
    if (free >= workload.gpus) break;
    free += candidate->object->gpus;
    victims.push_back(candidate);
  }
  if (free < workload.gpus) return {};
  // Spare the victims that later ones have made unnecessary.
  for (auto victim = victims.rbegin(); victim != victims.rend(); ++victim) {
    if (free - (*victim)->object->gpus < workload.gpus) continue;
    free -= (*victim)->object->gpus;
    *victim = nullptr;
  }
  std::erase(victims, nullptr);
  return victims;
}

void KueueModel::Evict(Entry& entry, Moment at) {
  ++evictions_;
  Workload evicted = *entry.object;
  evicted.evicted = true;
  SetTimer(delays_.stop, Timer::kStop, evicted.name, entry.admissions, at);
  Store(entry, std::move(evicted));
}

Workload KueueModel::ReplacementOf(Entry& entry, Moment at) const {
  Workload workload = *entry.object;
  workload.uid = workload.name + "/" + std::to_string(++entry.replaced);
  workload.priority = workload.OwnPriority();
  workload.note.reset();
  workload.pods = std::exchange(entry.workers, 0);
  workload.gpus = workload.pod_gpus * workload.pods;
  workload.created = at.wall;
  return workload;
}

void KueueModel::Release(const std::string& name, Moment at) {
  const auto found = entries_.find(name);
  Entry& entry = found->second;
  const std::string queue = entry.queue;
  if (entry.object->has_quota) queues_.at(queue).used.at(entry.flavor) -= entry.object->gpus;
  if (entry.done) {
    workloads_.erase(entry.object->Key());
    workloads_changed_ = true;
    objects_.jobs.RemoveKey(entry.object->Key());
    entries_.erase(found);
  } else {
    Workload requeued = entry.workers > 0 ? ReplacementOf(entry, at) : *entry.object;
    requeued.has_quota = requeued.evicted = false;
    requeued.quota_since = at.wall;
    requeued.checks.clear();
    if (std::exchange(entry.retries, false)) {
      requeued.requeue_at = at.wall + kAfterRetry;
      SetTimer(kAfterRetry, Timer::kSchedule, queue, 0, at);
    }
    Store(entry, std::move(requeued));
  }
  WakeScheduler(queue, at);
}

KueueModel::Entry* KueueModel::FindAsRead(const Workload& workload) {
  const auto found = entries_.find(workload.name);
  const bool is_current = found != entries_.end() &&
                          found->second.object->resource_version == workload.resource_version;
  return is_current ? &found->second : nullptr;
}

WriteOutcome KueueModel::Answer(const TypeAnswer& answer, Moment at) {
  Entry* const entry = FindAsRead(*answer.workload);
  if (entry == nullptr) return WriteOutcome::kOutdated;
  Workload changed = *entry->object;
  changed.checks.at(answer.check) = {.name = changed.checks.at(answer.check).name,
                                     .state = std::string(ToString(answer.answer.phase)),
                                     .product = answer.answer.product,
                                     .message = answer.answer.message,
                                     .since = at.wall};
  Store(*entry, std::move(changed));
  if (answer.answer.phase == CheckPhase::kReady) {
    SetTimer(delays_.start, Timer::kStart, entry->object->name, entry->admissions, at);
  } else if (answer.answer.phase == CheckPhase::kRetry && !entry->object->evicted) {
    entry->retries = true;
    Evict(*entry, at);
  }
  return WriteOutcome::kWritten;
}

WriteOutcome KueueModel::Write(const WorkloadWrite& write, Moment at) {
  Entry* const found = FindAsRead(*write.workload);
  if (found == nullptr) return WriteOutcome::kOutdated;
  Entry& entry = *found;
  Workload changed = *entry.object;
  const bool moves = changed.priority != write.priority;
  if (moves) changed.inadmissible = false;
  changed.priority = write.priority;
  changed.note = write.note;
  const bool waits = !changed.has_quota;
  Store(entry, std::move(changed));
  if (moves && waits) WakeScheduler(entry.queue, at);
  return WriteOutcome::kWritten;
}

WriteOutcome KueueModel::Write(const WorkersWrite& write, Moment at) {
  const auto job = objects_.jobs.Find(write.job->Key());
  const auto found = entries_.find(write.job->name);
  const bool is_current = job && job->resource_version == write.job->resource_version &&
                          found != entries_.end() && !found->second.done;
  if (!is_current) return WriteOutcome::kOutdated;
  Entry& entry = found->second;
  QueuedJob changed = *job;
  changed.workers = write.change.to;
  PutJob(std::move(changed));
  if (entry.object->has_quota) {
    entry.workers = write.change.to;
    if (!entry.object->evicted) Evict(entry, at);
    return WriteOutcome::kWritten;
  }
  Workload resized = *entry.object;
  resized.pods = write.change.to;
  resized.gpus = resized.pod_gpus * resized.pods;
  Store(entry, std::move(resized));
  WakeScheduler(entry.queue, at);
  return WriteOutcome::kWritten;
}

QueueObjects KueueModel::Objects() const {
  const auto snapshot = [](const auto& entries) {
    return std::make_shared<const std::decay_t<decltype(entries)>>(entries);
  };
  if (std::exchange(workloads_changed_, false))
    objects_.workloads = ObjectMap<Workload>(snapshot(workloads_));
  if (std::exchange(pods_changed_, false)) objects_.pods = ObjectMap<QueuedPod>(snapshot(pods_));
  return objects_;
}

std::shared_ptr<const Workload> KueueModel::Find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : found->second.object;
}

Gpus KueueModel::Used(const std::string& queue) const {
  Gpus gpus;
  for (const auto& [flavor, used] : queues_.at(queue).used) gpus += used;
  return gpus;
}

}  // namespace synergy
