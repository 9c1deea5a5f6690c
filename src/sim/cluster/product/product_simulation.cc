#include "sim/cluster/product/product_simulation.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <fmt/format.h>

#include "allocation/fair_share.h"
#include "gavel/policies/job_order.h"
#include "queues/empty_nodes.h"

namespace synergy {
namespace {

// Interval at which the product drops expectations that did not come true.
constexpr Duration kTidying = std::chrono::seconds(1);
// A job that has no node this long after the last arrival, start or end of a job never gets one. By
// then, no job is left that would free resources, and no retry waits longer.
constexpr Duration kGiveUpAfter = std::chrono::hours(24);

}  // namespace

ProductSimulation::ProductSimulation(const StartingCluster& cluster,
                                     std::span<const ProductJob> jobs,
                                     const ModelProfiles& profiles, const ProductOptions& options,
                                     const Progress& progress, ProductObserver* observer)
    : trace_(jobs),
      profiles_(profiles),
      options_(options),
      progress_(progress),
      observer_(observer),
      controllers_(HasVacancies() ? of_controllers_ : state_),
      product_profiles_(options.live_profiles || options.profiles_after ? published_ : profiles),
      surroundings_(controllers_, product_profiles_, cluster.namespaces),
      clocks_(cluster.at),
      faults_(options.faults),
      scheduler_(state_, options.locality, options.baseline, {Instant(kBeginning), cluster.at}),
      pods_(state_, scheduler_),
      kubelet_(pods_),
      running_({options.restart_cost, options.spread_factor, options.rack_spread_factor}),
      arrivals_(jobs.size()),
      jobs_(jobs.size()) {
  if (HasVacancies()) {
    state_.ReserveForReplacements(kReplacementHold, Instant(kBeginning));
    pods_.AddState(of_controllers_);
    scheduler_.AddState(of_controllers_);
  }
  admission_.scheduler_name = options.tuner.scheduler_name;
  admission_.enforcement = options.enforcement;
  std::iota(arrivals_.begin(), arrivals_.end(), size_t{0});
  std::sort(arrivals_.begin(), arrivals_.end(), [&](size_t a, size_t b) {
    return std::pair(trace_[a].arrival, trace_[a].id) < std::pair(trace_[b].arrival, trace_[b].id);
  });
  if (!jobs.empty()) run_.begin = run_.end = trace_[arrivals_.front()].arrival;
  now_ = Instant(kBeginning);
  if (options.profiles_after) profiles_due_ = now_ + *options.profiles_after;
  progressed_ = now_;
  for (const ProductJob& job : jobs) run_.jobs.push_back({.id = job.id, .arrival = job.arrival});
  run_.places.resize(jobs.size());
  if (options.failures) {
    std::vector<FailingJobs::Job> failing;
    for (const ProductJob& job : jobs) failing.push_back({job.id, job.gpus, job.ideal});
    failures_.emplace(*options.failures, failing);
  }
  if (options.queue) {
    for (size_t job = 0; job < trace_.size(); ++job) by_name_.emplace(NameOf(job), job);
  }
  SetUp(cluster);
}

Result<SimulationRun> ProductSimulation::Run() {
  while (finished_ < trace_.size() && !Hopeless()) {
    const Instant next = NextTime();
    if (options_.until && next > ToInstant(*options_.until)) {
      Account(ToInstant(*options_.until));
      EndAt(*options_.until);
      break;
    }
    if (next == Instant::max() || ToSeconds(next) - run_.begin > options_.limit) return Stuck();
    Account(next);
    now_ = next;
    if (now_ >= profiles_due_) PublishTruth();
    if (auto arrived = Arrive(); !arrived) return Fail(arrived.error());
    while (const auto event = events_.TakeDue(now_)) Handle(*event);
    if (auto made = MakeLatePods(); !made) return Fail(made.error());
    if (auto run = RunQueue(); !run) return Fail(run.error());
    if (auto made = MakePodsAgain(); !made) return Fail(made.error());
    Settle();
  }
  if (sharing_) run_.sharing = sharing_->Figures();
  if (moves_) run_.moves = moves_->Figures();
  if (tuner_) {
    run_.rounds = tuner_->rounds();
    run_.decided = tuner_->decisions();
  }
  for (size_t job = 0; job < trace_.size(); ++job) {
    run_.last_speeds.push_back(running_.SpeedOf(job));
    const auto predicted =
        reservations_ ? reservations_->FirstPredictionFor(NameOf(job)) : std::nullopt;
    if (predicted)
      run_.places[job].predicted = {{ToSeconds(predicted->at), ToSeconds(predicted->start)}};
  }
  if (failures_) {
    const Instant end = use_.accounted();
    run_.failures = failures_->TakeFigures({end, clocks_ + (end.time_since_epoch() - kBeginning)});
  }
  return std::move(run_);
}

void ProductSimulation::SetUp(const StartingCluster& cluster) {
  if (options_.sharing) SetUpSharing();
  for (const Node& node : cluster.nodes) AddNode(node);
  SetUpScheduler();
  for (const Pod& pod : cluster.pods) AddPod(pod, cluster.at);
  if (options_.cpu_pods.per_hour > 0) {
    cpu_pods_.emplace(options_.cpu_pods);
    Plan(cpu_pods_->UntilNext(), EventKind::kCpuPodComes, {});
  }
  if (options_.live_profiles) {
    profiling_.emplace(published_, state_, pods_, running_, profiles_);
  }
  if (options_.queue) SetUpQueue(cluster.pods);
  if (!options_.baseline) SetUpController();
  if (HasPriorities() && !sharing_) scheduler_.SetPreemption();
  Settle();
}

void ProductSimulation::AddNode(Node node) {
  Gpus& gpus = node.allocatable.main.gpus;
  largest_gpus_ = std::max(largest_gpus_, gpus);
  if (sharing_) {
    sharing_->SetNode(node.name, gpus, node.gpu_kinds.OnlyProduct());
    gpus = gpus * options_.sharing->height;
    node.pods_allowed = std::max(node.pods_allowed, gpus.count());
  }
  use_.AddNode(node.allocatable.main);
  if (gpus > Gpus(0)) gpus_of_[node.gpu_kinds.OnlyProduct()] += gpus;
  nodes_.emplace(node.name, node);
  if (const auto lost = faults_.UntilNodeLost()) Plan(*lost, EventKind::kNodeLost, node.name);
  running_.SetNode(node.name, node.allocatable.main.cpu,
                   std::string(FindLabel(node.labels, options_.locality.rack_label).value_or("")),
                   options_.storage ? options_.storage->bandwidth : Bytes(0));
  PutNode(node);
}

void ProductSimulation::AddPod(const Pod& pod, WallTime at) {
  pods_.Create(GoingOn(pod, at));
  if (options_.remaining && pod.UsesGpus()) Own(pod, *options_.remaining);
  if (pod.node.empty()) {
    scheduler_.Add(pod, now_);
  } else {
    GoOn(*pods_.Find(pod.uid));
  }
}

void ProductSimulation::SetUpScheduler() {
  if (options_.reservations && !options_.baseline) {
    reservations_.emplace(*options_.reservations, state_,
                          [this](const std::string& uid) { return RemainingOf(uid); });
    scheduler_.SetReservations(&*reservations_);
  }
  scheduler_.SetWholeNodes(options_.whole_nodes);
  if (options_.storage && options_.storage->known) {
    storage_.emplace(options_.storage->bandwidth, product_profiles_);
    scheduler_.SetStorage(&*storage_);
  }
}

void ProductSimulation::SetUpQueue(const std::vector<Pod>& running) {
  Gpus quota = use_.total().gpus;
  for (const Pod& pod : running) quota -= pod.requests.main.gpus;
  if (ChoosesTypes()) SetUpTypes();
  queue_.emplace(
      *options_.queue, options_.pod_namespace, quota,
      [this](const std::string& uid) { return LogOf(uid); },
      [this](const Workload& workload, Gpus of_queue) {
        return PodsOnEmptyNodes(*controllers_.Snapshot(), workload, of_queue);
      },
      types_ ? &*types_ : nullptr, present());
  queue_->SetFaults(faults_);
}

void ProductSimulation::SetUpController() {
  tuner_.emplace(
      options_.tuner, product_profiles_, storage_ ? &*storage_ : nullptr, controllers_, pods_,
      [this](const std::string& uid) { Plan(options_.latencies.resize, EventKind::kResize, uid); },
      faults_, present());
  if (HasPriorities()) {
    GangPreemptionSettings settings;
    settings.rules.scheduler_name = options_.tuner.scheduler_name;
    preemption_.emplace(settings, controllers_, pods_, faults_,
                        [this](const auto& pods) { Evict(pods); });
  }
  if (options_.moves) SetUpMoves();
}

void ProductSimulation::SetUpMoves() {
  MovesDriver::Sources sources;
  sources.scheduler_name = options_.tuner.scheduler_name;
  sources.restart_cost = options_.restart_cost;
  sources.training_of = [this](const std::string& uid) { return TrainingOf(uid); };
  sources.remaining_of = [this](const std::string& uid) { return RemainingOf(uid); };
  sources.evict = [this](const auto& pods) { Evict(pods); };
  sources.reservations = [this] {
    return reservations_ ? reservations_->InTermsOfPods() : std::vector<GpuReservation>();
  };
  if (sharing_) {
    sources.admits = [this](const Pod& pod, const NodeState& node) {
      return HasSharedPlace(pod, node);
    };
  }
  moves_.emplace(*options_.moves, std::move(sources), controllers_, pods_, faults_);
}

bool ProductSimulation::HasSharedPlace(const Pod& pod, const NodeState& node) const {
  std::vector<SharedGpus::Pod> there;
  for (const auto& other : node.detail->pods) {
    if (other->UsesGpus() && other->uid != pod.uid)
      there.push_back(SharedPodOf(owners_.at(other->uid).job));
  }
  return sharing_->HasPlaceBeside(node.detail->name, SharedPodOf(owners_.at(pod.uid).job), there);
}

std::optional<Duration> ProductSimulation::RemainingOf(const std::string& uid) const {
  const auto owner = owners_.find(uid);
  return owner == owners_.end() ? std::nullopt : running_.RemainingOf(owner->second.job, now_);
}

std::optional<MovesDriver::Training> ProductSimulation::TrainingOf(const std::string& uid) const {
  const auto owner = owners_.find(uid);
  if (owner == owners_.end() || !InTrace(owner->second.job)) return std::nullopt;
  const size_t index = owner->second.job;
  const ProductJob& job = trace_[index];
  if (!jobs_[index].goes) return std::nullopt;
  MovesDriver::Training training{.workload =
                                     fmt::format("{}/{}", options_.pod_namespace, job.model)};
  const double rate = job.iterations / job.ideal.count() * running_.SpeedOf(index);
  const Seconds trained = now_ - jobs_[index].trains_from;
  // Turns and packs change the speed from moment to moment, so no rate is known there.
  if (!sharing_ && rate > 0 && rate * trained.count() >= GpuMoves::kCompared) training.rate = rate;
  return training;
}

void ProductSimulation::SetUpSharing() {
  Seconds last = run_.begin;
  for (const ProductJob& job : trace_) last = std::max(last, job.arrival);
  sharing_.emplace(*options_.sharing, Instant(kBeginning), ToInstant(last));
  scheduler_.SetRank([this](const Pod& pod, const std::string& node) -> std::optional<double> {
    // A node that is about to have pods of one size takes no others.
    const auto kept = moves_ ? moves_->KeptOn(node) : std::nullopt;
    if (kept && *kept != pod.requests.main.gpus) return std::nullopt;
    return sharing_->RankOf(node, SharedPodOf(owners_.at(pod.uid).job));
  });
}

void ProductSimulation::SetUpTypes() {
  std::set<std::string> models;
  for (const ProductJob& job : trace_) models.insert(job.model);
  std::vector<std::string> products;
  for (const auto& [product, gpus] : gpus_of_) products.push_back(product);
  on_products_.emplace(profiles_, options_.pod_namespace,
                       std::vector<std::string>(models.begin(), models.end()), products,
                       options_.gpu_speeds);
  type_speeds_.emplace(
      controllers_, *on_products_,
      [this](const NodeSelection& selection, Gpus gpus, const std::string& product) {
        return LeastFairShare(*controllers_.Snapshot(), &selection, gpus, product, {});
      });
  types_.emplace(*type_speeds_, MakeJobOrder);
}

PodProgress ProductSimulation::LogOf(const std::string& uid) const {
  const Owner& owner = owners_.at(uid);
  PodProgress progress;
  progress.remaining = running_.RemainingOf(owner.job, now_);
  if (progress.remaining) {
    const double speed = running_.SpeedOf(owner.job);
    progress.rate = speed / static_cast<double>(jobs_[owner.job].pods.size());
    if (IsElastic(owner.job)) {
      // Each pod logs the iterations of the job, here milliseconds at the fair share.
      const double left = Seconds(*progress.remaining).count() * speed;
      progress.rate = speed * 1000;
      progress.total = std::llround(trace_[owner.job].ideal.count() * 1000);
      progress.iteration = std::max<int64_t>(*progress.total - std::llround(left * 1000), 0);
    }
  }
  return progress;
}

bool ProductSimulation::Hopeless() const {
  return going_ == 0 && next_arrival_ == arrivals_.size() && now_ - progressed_ >= kGiveUpAfter;
}

void ProductSimulation::Own(const Pod& pod, Seconds remaining) {
  const size_t index = jobs_.size();
  JobProgress::Work work{.ideal = remaining, .runs_already = !pod.node.empty()};
  if (pod.fungible) {
    const ManagedContainer& fungible = *pod.fungible;
    const auto profile =
        profiles_.Find(pod.pod_namespace, fungible.profile, fungible.requested.gpus).profile;
    if (profile) {
      work.fair_throughput =
          profile->ThroughputAt(fungible.fair_share.cpu, fungible.fair_share.memory);
    }
  }
  running_.Begin(index, work);
  owners_[pod.uid] = {index, 0};
  jobs_.push_back({.pods = {pod.uid}});
}

void ProductSimulation::GoOn(const SimulatedPod& pod) {
  if (pod.fungible && !pod.fungible->reported) {
    Plan(options_.latencies.start, EventKind::kStarted, pod.uid());
    return;
  }
  RunPod(pod);
  if (pod.fungible && !pod.fungible->Settled()) {
    Plan(options_.latencies.resize, EventKind::kResize, pod.uid());
  }
}

Instant ProductSimulation::NextTime() const {
  Instant next = std::min(tuner_due_, profiles_due_);
  if (tuner_) next = std::min(next, tuner_->wake());
  if (profiling_) next = std::min(next, profiling_->wake());
  if (preemption_) next = std::min(next, preemption_->wake());
  if (moves_) next = std::min(next, moves_->wake());
  if (queue_) next = std::min(next, queue_->wake());
  if (reservations_) next = std::min(next, reservations_->due());
  if (sharing_) next = std::min(next, sharing_->wake());
  next = std::min(next, events_.next());
  if (next_arrival_ < arrivals_.size()) {
    next = std::min(next, ToInstant(trace_[arrivals_[next_arrival_]].arrival));
  }
  if (const auto work = scheduler_.NextWork(); work && !scheduling_) next = std::min(next, *work);
  return std::max(next, now_);
}

tl::unexpected<Error> ProductSimulation::Stuck() const {
  const auto stuck = std::find_if(run_.jobs.begin(), run_.jobs.end(),
                                  [](const JobRun& job) { return job.finish < Seconds(0); });
  return Fail(
      ErrorCode::kInvalid,
      fmt::format("{} of {} jobs not finished after {:.0f} simulated days; job {} is the first",
                  trace_.size() - finished_, trace_.size(), options_.limit.count() / 86400,
                  stuck->id));
}

void ProductSimulation::PublishTruth() {
  profiles_due_ = Instant::max();
  published_ = profiles_;
  for (const JobState& job : jobs_) {
    for (const std::string& uid : job.pods) {
      pods_.Write(uid, [this](SimulatedPod& pod) {
        if (!pod.fungible || !pod.fungible->profile.empty()) return;
        ManagedContainer& fungible = *pod.fungible;
        const TunedProfile known =
            published_.Find(pod.pod_namespace(), fungible.workload, fungible.requested.gpus);
        if (!known.profile) return;
        Adopt(fungible, fungible.workload, known.generation, *known.profile, {});
      });
    }
  }
}

void ProductSimulation::Handle(const Event& event) {
  switch (event.kind) {
    case EventKind::kAttempt:
      Attempt();
      return;
    case EventKind::kBound:
      Bind(event.uid);
      return;
    case EventKind::kNodeLost:
      return LoseNode(event.uid);
    case EventKind::kPodsDeleted:
      return DeletePodsOf(event.uid);
    case EventKind::kNodeBack:
      return ReturnNode(event.uid);
    case EventKind::kVacanciesEnd:
      return state_.DropStaleExpectations(now_, present().wall);
    case EventKind::kCpuPodComes:
      Plan(cpu_pods_->UntilNext(), EventKind::kCpuPodComes, {});
      return CreateCpuPod();
    case EventKind::kCpuPodEnds:
      if (IsCpuPod(event.uid) && !lost_.contains(pods_.Find(event.uid)->node))
        RemoveCpuPod(event.uid);
      return;
    case EventKind::kStarted:
      if (const SimulatedPod* pod = pods_.Find(event.uid); pod && lost_.contains(pod->node)) return;
      kubelet_.Start(event.uid);
      if (const SimulatedPod* pod = pods_.Find(event.uid)) RunPod(*pod);
      return;
    case EventKind::kResize:
      Resize(event.uid);
      return;
    case EventKind::kFinish:
      if (!running_.Holds(event.finish)) return;
      if (!event.finish.first_epoch && failures_ && InTrace(event.finish.job) &&
          failures_->IsToFail(event.finish.job))
        return;
      if (event.finish.first_epoch) {
        running_.EndFirstEpoch(event.finish.job, now_);
      } else {
        Finish(event.finish.job);
      }
      return;
    case EventKind::kAttemptFails:
      if (jobs_[event.job].fails_at == now_) FailAttempt(event.job);
      return;
    case EventKind::kRetry:
      if (jobs_[event.job].retry_at != now_) return;
      jobs_[event.job].retry_at.reset();
      again_.push_back(event.job);
      return;
    case EventKind::kPrerunEnds:
      if (failures_->EndPrerun(event.job, present())) GiveUp(event.job, [] {});
      return;
  }
}

void ProductSimulation::Settle() {
  if (now_ - tidied_ >= kTidying) {
    state_.DropStaleExpectations(now_, present().wall);
    if (&controllers_ != &state_) controllers_.DropStaleExpectations(now_, present().wall);
    tidied_ = now_;
  }
  if (profiling_ && now_ >= profiling_->wake()) profiling_->Run(present());
  Tune();
  if (preemption_) {
    if (now_ >= preemption_->wake()) preemption_->Run(present());
    preemption_->Look(now_);
  }
  if (reservations_ && now_ >= reservations_->due()) PlanReservationsNow();
  if (moves_) {
    if (now_ >= moves_->wake()) moves_->Run(present());
    moves_->Look(now_);
  }
  if (sharing_) {
    for (const auto& [job, factor] : sharing_->Run(now_)) running_.SetGpuFactor(job, factor, now_);
  }
  for (const JobProgress::Finish& finish : running_.TakeFinishes()) {
    events_.Add({.at = finish.at, .kind = EventKind::kFinish, .finish = finish});
  }
  if (!scheduling_ && scheduler_.HasWork(now_)) {
    scheduling_ = true;
    Plan(options_.latencies.schedule, EventKind::kAttempt, {});
  }
  if (observer_ != nullptr) observer_->Look(ToSeconds(now_), *state_.Snapshot());
}

void ProductSimulation::Tune() {
  if (!tuner_) return;
  if (now_ >= tuner_due_ || now_ >= tuner_->wake()) {
    tuner_->Run(present());
    tuner_observed_ = pods_.writes();
    tuner_due_ = Instant::max();
  } else if (tuner_due_ == Instant::max() && tuner_observed_ != pods_.writes()) {
    tuner_due_ = now_ + options_.latencies.tune;
  }
}

void ProductSimulation::PlanReservationsNow() {
  if (reservations_->Plan(now_)) scheduler_.ReservationsChanged();
  if (tuner_) tuner_->SetReservations(reservations_->InTermsOfPods(), now_);
}

void ProductSimulation::Draw() {
  UtilisationPoint point = use_.PointAt(ToSeconds(now_), pods_.counted());
  point.running = static_cast<uint32_t>(running_jobs_);
  point.waiting = static_cast<uint32_t>(arrived_ - finished_ - running_jobs_);
  run_.timeline.push_back(point);
}

}  // namespace synergy
