#include <algorithm>
#include <numeric>

#include "core/rounding.h"
#include "sim/cluster/product/product_simulation.h"

namespace synergy {
namespace {

// The least work that a job has when it runs again.
constexpr Seconds kLeastWork(1);

}  // namespace

SharedGpus::Pod ProductSimulation::SharedPodOf(size_t job) const {
  const ProductJob& of = trace_[job];
  return {.job = job,
          .model = of.model,
          .gpus = of.gpus,
          .iterations_per_second = of.iterations > 0 ? of.iterations / of.ideal.count() : 1};
}

bool ProductSimulation::IsElastic(size_t job) const {
  return options_.elastic && trace_[job].gpus.count() % PodCountOf(job) == 0;
}

double ProductSimulation::FactorOf(size_t job, int64_t workers) const {
  const auto speed = [this](int64_t pods) {
    const auto n = static_cast<double>(pods);
    return n / (1 + options_.elastic->serial * (n - 1));
  };
  return speed(workers) / speed(PodCountOf(job));
}

Result<> ProductSimulation::Arrive() {
  while (next_arrival_ < arrivals_.size() &&
         ToInstant(trace_[arrivals_[next_arrival_]].arrival) <= now_) {
    progressed_ = now_;
    ++arrived_;
    const size_t job = arrivals_[next_arrival_++];
    if (failures_) {
      if (const auto ends = failures_->BeginPrerun(job, present()))
        PlanOf(job, *ends, EventKind::kPrerunEnds);
    }
    if (queue_) {
      QueueJob queued{.name = NameOf(job),
                      .gpus = trace_[job].gpus,
                      .pods = PodCountOf(job),
                      .model = trace_[job].model};
      if (const auto& longest = options_.queue->longest)
        queued.longest = ToDuration(trace_[job].ideal * *longest);
      if (IsElastic(job)) {
        queued.least = std::min(options_.elastic->least, queued.pods);
        queued.most = std::max(options_.elastic->most, queued.pods);
      }
      queue_->Add(queued, present());
    } else if (auto made = MakePods(job); !made) {
      return made;
    }
  }
  return {};
}

Result<> ProductSimulation::RunQueue() {
  if (!queue_ || now_ < queue_->wake()) return {};
  for (const KueueAction& action : queue_->Run(present())) {
    const size_t job = by_name_.at(action.name);
    if (action.kind == KueueAction::Kind::kStop) {
      Suspend(job);
      continue;
    }
    jobs_[job].gpu_product = action.product;
    if (IsElastic(job)) jobs_[job].workers = action.pods;
    if (auto made = MakePods(job); !made) return made;
  }
  return {};
}

void ProductSimulation::Interrupt(size_t index) {
  EndPods(index, [this, index] {
    if (jobs_[index].runs > 0) running_.Suspend(index, now_);
  });
  StopRetries(index);
  scheduler_.PodsDeleted(now_);
  Draw();
}

void ProductSimulation::StopRetries(size_t index) {
  std::erase(without_pods_, index);
  std::erase(again_, index);
  jobs_[index].retry_at.reset();
}

void ProductSimulation::Suspend(size_t index) {
  Interrupt(index);
  queue_->PodsGone(NameOf(index), present());
}

Result<> ProductSimulation::MakePodsAgain() {
  for (const size_t index : std::exchange(again_, {})) {
    if (auto made = MakePods(index); !made) return made;
  }
  return {};
}

Result<> ProductSimulation::MakePods(size_t index) {
  const ProductJob& job = trace_[index];
  JobState& state = jobs_[index];
  const int64_t workers = state.workers;
  const Gpus worker(job.gpus.count() / PodCountOf(index));  // per pod, if `workers` is set
  auto pods =
      PodsOf({.name = NameOf(index),
              .run = state.runs + 1,
              .pod_namespace = options_.pod_namespace,
              .model = job.model,
              .gpus = workers > 0 ? worker * workers : job.gpus,
              .gpu_product = state.gpu_product,
              .measured = !HasModelProfiles()},
             workers > 0 ? worker : MostPodGpus(), surroundings_, admission_, present().wall);
  if (!pods && pods.error().code == ErrorCode::kUnavailable) {
    without_pods_.push_back(index);
    return {};
  }
  if (!pods) return Fail(pods.error());
  std::vector<uint32_t> ordinals = std::exchange(state.missing, {});
  const bool replaces = !ordinals.empty();
  if (!replaces) {
    ordinals.resize(pods->size());
    std::iota(ordinals.begin(), ordinals.end(), 0U);
    run_.places[index].nodes.clear();
    run_.places[index].bound_with = {};
  }
  if (++state.runs == 1) {
    running_.Begin(index, {.ideal = job.ideal,
                           .fair_throughput = job.fair_throughput,
                           .pods = static_cast<uint32_t>(pods->size()),
                           .first_part = job.first_part,
                           .spread = SpreadOf(job.model)});
  }
  if (workers > 0 && !replaces) {
    running_.SetWorkers(index, static_cast<uint32_t>(pods->size()), FactorOf(index, workers));
  }
  std::vector<Pod> made;
  for (const uint32_t ordinal : ordinals) {
    Pod& pod = (*pods)[ordinal];
    if (options_.baseline) GiveFairShare(pod);
    pod.priority = job.priority;
    owners_[pod.uid] = {index, ordinal};
    state.pods.push_back(pod.uid);
    pods_.Create(pod);
    if (queue_) queue_->AddPod(NameOf(index), pod.uid, pod.requests.main.gpus, present());
    made.push_back(std::move(pod));
  }
  if (reservations_ && replaces) reservations_->Replace(NameOf(index), made);
  if (reservations_ && !replaces)
    reservations_->Wait(NameOf(index), made, ToDuration(job.ideal), now_);
  for (const Pod& pod : made) {
    if (!state.avoids.empty()) scheduler_.Avoid(pod.uid, state.avoids, state.avoids_until);
    replaces ? scheduler_.AddReplacement(pod, now_) : scheduler_.Add(pod, now_);
  }
  return {};
}

SpreadCost ProductSimulation::SpreadOf(const std::string& model) const {
  const auto known = profiles_.Known(options_.pod_namespace, model);
  return known && known->object.profile ? known->object.profile->spread() : SpreadCost{};
}

Result<> ProductSimulation::MakeLatePods() {
  if (!std::exchange(more_gpus_, false)) return {};
  for (const size_t index : std::exchange(without_pods_, {})) {
    if (auto made = MakePods(index); !made) return made;
  }
  return {};
}

void ProductSimulation::RunPod(const SimulatedPod& pod) {
  JobProgress::RunningPod running{.uid = pod.uid()};
  if (pod.fungible) {
    running.in_force = pod.fungible->in_force;
    running.enforcement = pod.fungible->enforcement;
    // Use the true profile, whether or not the product knows it.
    const ManagedContainer& fungible = *pod.fungible;
    const bool is_unknown = options_.live_profiles || fungible.profile.empty();
    const std::string& model = is_unknown ? fungible.workload : fungible.profile;
    running.profile = profiles_.Find(pod.pod_namespace(), model, fungible.requested.gpus).profile;
  } else {
    running.in_force = pod.CountedByKubeScheduler();
  }
  if (const auto owner = owners_.find(pod.uid()); owner != owners_.end()) {
    running.job = owner->second.job;
    if (InTrace(running.job)) {
      running.speed = options_.gpu_speeds.Of(trace_[running.job].model,
                                             nodes_.at(pod.node).gpu_kinds.OnlyProduct());
    }
    running.ordinal = owner->second.ordinal;
    if (options_.storage && running.profile) running.reads = DataOf(*running.profile);
    if (options_.cold_epochs && InTrace(running.job) && running.profile) {
      const SimulatedData data = DataOf(*running.profile);
      if (data.data_set > Bytes(0))
        running.cold_epoch = {.work = data.Epoch(), .most = data.uncached};
    }
    JobState& job = jobs_[running.job];
    if (++job.started == job.pods.size() && job.missing.empty() && !job.broken) {
      job.goes = true;
      job.trains_from = now_ + options_.restart_cost;
      ++going_;
      if (moves_) moves_->Trains(pod.uid(), job.trains_from);
      if (InTrace(running.job)) {
        JobRun& run = run_.jobs[running.job];
        if (run.start < Seconds(0)) {
          run.start = ToSeconds(now_);
        } else {
          ++run.restarts;
        }
        ++running_jobs_;
        job.runs_since = now_;
        RunAttempt(running.job);
      }
    }
  }
  if (IsCpuPod(pod.uid())) {
    Plan(cpu_pods_->Lasts(), EventKind::kCpuPodEnds, pod.uid());
  } else {
    progressed_ = now_;
  }
  if (queue_) queue_->RunPod(pod.uid(), present());
  if (sharing_ && running.job != JobProgress::kNoJob)
    sharing_->Start(running.job, now_ + options_.restart_cost);
  running_.Start(pod.node, std::move(running), now_);
  if (profiling_) profiling_->OnReport(now_);
}

void ProductSimulation::StopCountingRun(size_t index) {
  const auto since = std::exchange(jobs_[index].runs_since, std::nullopt);
  if (since) run_.jobs[index].ran += now_ - *since;
}

void ProductSimulation::Hold(size_t index, Gpus gpus) {
  if (!InTrace(index)) return;
  JobState& job = jobs_[index];
  run_.jobs[index].gpu_time +=
      Seconds(now_ - job.held_since) * static_cast<double>(job.held.count());
  job.held = gpus;
  job.held_since = now_;
}

void ProductSimulation::EndPods(size_t index, const std::function<void()>& end) {
  JobState& job = jobs_[index];
  StopCountingRun(index);
  Hold(index, Gpus(0));
  if (sharing_) sharing_->Remove(index, now_);
  if (job.goes) {
    --going_;
    if (InTrace(index)) --running_jobs_;
  }
  if (queue_) {
    for (const std::string& uid : job.pods) queue_->RemovePod(uid, present());
  }
  PauseAttempt(index);
  end();
  if (reservations_ && !job.pods.empty()) reservations_->ForgetJobOf(job.pods.front());
  if (moves_ && !job.pods.empty()) moves_->Forget(job.pods.front());
  std::vector<Pod> waiting;
  for (const std::string& uid : job.pods) {
    const SimulatedPod& pod = *pods_.Find(uid);
    if (pod.waits()) {
      waiting.push_back(pod.AsCounted());
      continue;
    }
    Note(PlaceChange::Kind::kGone, pod, pod.CountedByKubeScheduler());
    running_.Stop(pod.node, uid, now_);
  }
  for (const std::string& uid : job.pods) {
    pods_.Remove(uid);
    planned_.erase(uid);
    owners_.erase(uid);
  }
  for (const Pod& pod : waiting) scheduler_.Forget(pod);
  job.pods.clear();
  job.missing.clear();
  job.started = 0;
  job.goes = job.broken = false;
  progressed_ = now_;
  JobPlace* const place = InTrace(index) ? &run_.places[index] : nullptr;
  if (job.kept_since && place != nullptr) place->waited_for_locality += now_ - *job.kept_since;
  job.kept_since.reset();
}

void ProductSimulation::RunAttempt(size_t index) {
  if (!failures_) return;
  JobState& job = jobs_[index];
  if (failures_->BeginsAttempt(index)) job.work_left = running_.WorkLeft(index);
  std::vector<std::string> nodes;
  for (const std::string& uid : job.pods) nodes.push_back(pods_.Find(uid)->node);
  const auto fails = failures_->Run(index, std::move(nodes), present());
  if (!fails) return;
  job.fails_at = now_ + *fails;
  PlanOf(index, *fails, EventKind::kAttemptFails);
}

void ProductSimulation::PauseAttempt(size_t index) {
  if (!failures_ || !InTrace(index)) return;
  failures_->Pause(index, present());
  jobs_[index].fails_at.reset();
}

void ProductSimulation::FailAttempt(size_t index) {
  const FailingJobs::End failure = failures_->Fail(index, present());
  const auto lose_work = [&] {
    running_.Suspend(index, now_);
    const Seconds begun = jobs_[index].work_left;
    const Seconds left = begun - (begun - running_.WorkLeft(index)) * failure.kept;
    running_.SetWorkLeft(index, std::max(left, kLeastWork));
  };
  if (!failure.retry_after) return GiveUp(index, lose_work);
  JobState& job = jobs_[index];
  if (failure.pod && OthersStay(job, {job.pods[*failure.pod]})) {
    lose_work();
    LoseMembers(index, {job.pods[*failure.pod]});
  } else {
    EndPods(index, lose_work);
    scheduler_.PodsDeleted(now_);
  }
  job.avoids = failure.avoid;
  job.avoids_until = now_ + (failure.until - present().wall);
  job.retry_at = now_ + *failure.retry_after;
  PlanOf(index, *failure.retry_after, EventKind::kRetry);
  Draw();
}

void ProductSimulation::GiveUp(size_t index, const std::function<void()>& end) {
  EndPods(index, end);
  StopRetries(index);
  scheduler_.PodsDeleted(now_);
  run_.jobs[index].failed = true;
  Leave(index);
}

void ProductSimulation::Finish(size_t index) {
  if (failures_ && InTrace(index)) failures_->Pass(index, present());
  if (reservations_ && !jobs_[index].pods.empty())
    reservations_->Finished(jobs_[index].pods.front(), now_);
  if (moves_ && !jobs_[index].pods.empty()) moves_->Finished(jobs_[index].pods.front(), now_);
  EndPods(index, [this, index] {
    const auto first_part = running_.FirstPartDone(index, now_);
    if (first_part && InTrace(index)) run_.jobs[index].first_part = ToSeconds(*first_part);
  });
  Leave(index);
}

void ProductSimulation::Leave(size_t index) {
  running_.End(index);
  jobs_[index] = {};
  if (!InTrace(index)) {
    more_gpus_ = true;
    return Draw();
  }
  if (queue_) queue_->Finish(NameOf(index), present());
  run_.jobs[index].finish = ToSeconds(now_);
  EndAt(run_.jobs[index].finish);
  ++finished_;
  Draw();
  if (progress_) progress_(finished_);
}

}  // namespace synergy
