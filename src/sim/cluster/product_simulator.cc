#include "sim/cluster/product_simulator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "allocation/fair_share.h"
#include "core/rounding.h"
#include "gavel/policies/job_order.h"
#include "queues/empty_nodes.h"
#include "queues/types/gpu_type_planner.h"
#include "queues/types/gpu_type_speeds.h"
#include "sim/cluster/drivers/preemption_driver.h"
#include "sim/cluster/drivers/profiling_driver.h"
#include "sim/cluster/drivers/reservation_driver.h"
#include "sim/cluster/drivers/tuner_driver.h"
#include "sim/cluster/job_pods.h"
#include "sim/cluster/job_progress.h"
#include "sim/cluster/simulated_kubelet.h"
#include "sim/cluster/simulated_pods.h"
#include "sim/cluster/simulated_scheduler.h"

namespace synergy {
namespace {

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
// Simulated time begins here.
constexpr Duration kBeginning = std::chrono::hours(1);
// Interval at which the product drops expectations that did not come true.
constexpr Duration kTidying = std::chrono::seconds(1);
// A job that has no node this long after the last arrival, start or end of a job never gets one: no
// job is left that would free resources, and no retry waits longer.
constexpr Duration kGiveUpAfter = std::chrono::hours(24);
// The same as in the extender's configuration.
constexpr Duration kReplacementHold = std::chrono::seconds(60);
// The least work that a job has when it runs again.
constexpr Seconds kLeastWork(1);

constexpr std::array<MechanismName, 2> kMechanisms = {
    {{"synergy", "the product, event by event, shared CPU: idle CPU goes to other jobs"},
     {"synergy-strict", "the product, event by event, CPU limits = allocations"}}};
constexpr std::array<MechanismName, 3> kBaselines = {
    {{"proportional", "requests in proportion to GPUs, CPU limits = requests, fullest node first"},
     {"burstable-spread", "requests in proportion, no CPU limits, emptiest node first"},
     {"burstable-packed", "requests in proportion, no CPU limits, fullest node first"}}};

struct Mechanism {
  Enforcement enforcement = Enforcement::kShared;
  std::optional<NodeOrder> baseline;
};
// The two lists, one after the other.
constexpr std::array<Mechanism, kMechanisms.size() + kBaselines.size()> kHow = {
    {{Enforcement::kShared, std::nullopt},
     {Enforcement::kStrict, std::nullopt},
     {Enforcement::kStrict, NodeOrder::kMostAllocated},
     {Enforcement::kShared, NodeOrder::kLeastAllocated},
     {Enforcement::kShared, NodeOrder::kMostAllocated}}};

enum class EventKind : uint8_t {
  kAttempt,
  kBound,
  kStarted,
  kResize,
  kFinish,
  kNodeLost,
  kPodsDeleted,  // the pods of a lost node
  kNodeBack,
  kVacanciesEnd,
  kCpuPodComes,
  kCpuPodEnds,
  kAttemptFails,  // these three concern a job, by its index
  kRetry,
  kPrerunEnds,
};

struct Event {
  Instant at;
  uint64_t number = 0;  // events at one instant run in the order in which they were planned
  EventKind kind = EventKind::kAttempt;
  std::string uid;               // of a pod; for events of nodes, the node's name
  size_t job = 0;                // for events of jobs
  JobProgress::Finish finish{};  // kFinish

  bool operator>(const Event& other) const {
    return at != other.at ? at > other.at : number > other.number;
  }
};

class ProductSimulation {
 public:
  ProductSimulation(const StartingCluster& cluster, std::span<const ProductJob> jobs,
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
      return std::pair(trace_[a].arrival, trace_[a].id) <
             std::pair(trace_[b].arrival, trace_[b].id);
    });
    if (!jobs.empty()) run_.begin = run_.end = trace_[arrivals_.front()].arrival;
    now_ = Instant(kBeginning);
    if (options.profiles_after) profiles_due_ = now_ + *options.profiles_after;
    accounted_ = progressed_ = now_;
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

  Result<SimulationRun> Run() {
    if (auto possible = CheckGpus(); !possible) return Fail(possible.error());
    if (auto possible = CheckTypes(); !possible) return Fail(possible.error());
    if (auto possible = CheckElastic(); !possible) return Fail(possible.error());
    if (options_.failures && (options_.elastic || options_.reservations))
      return Fail(ErrorCode::kInvalid, "failures: not with elastic jobs or GPU reservations");
    if (auto possible = CheckSharing(); !possible) return Fail(possible.error());
    if (options_.storage && (options_.live_profiles || options_.sharing)) {
      return Fail(ErrorCode::kInvalid,
                  "storage: only for jobs with profiles that do not share GPUs");
    }
    if (options_.faults.node_lost > 0 && starting_pods_ > 0) {
      return Fail(ErrorCode::kInvalid, "nodes are lost only in a cluster that begins without pods");
    }
    if (HasPriorities() && starting_pods_ > 0) {
      return Fail(ErrorCode::kInvalid,
                  "priority: only in a cluster that begins without pods: leave out the column");
    }
    if (options_.reservations && options_.queue) {
      return Fail(ErrorCode::kInvalid,
                  "reservations are for jobs that no queue of Kueue admits: leave out --kueue");
    }
    if (options_.queue && HasPriorities()) {
      return Fail(ErrorCode::kInvalid,
                  "priority: a queue has an order of its own: leave out the column, or --kueue and "
                  "--policy");
    }
    if (by_name_.size() < (options_.queue ? trace_.size() : 0))
      return Fail(ErrorCode::kInvalid, "two jobs have the same id, and a queue needs them apart");
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
      while (!events_.empty() && events_.top().at <= now_) {
        const Event event = events_.top();
        events_.pop();
        Handle(event);
      }
      if (auto made = MakeLatePods(); !made) return Fail(made.error());
      if (auto run = RunQueue(); !run) return Fail(run.error());
      if (auto made = MakePodsAgain(); !made) return Fail(made.error());
      Settle();
    }
    const double whole = std::max((run_.end - run_.begin).count(), 1e-9);
    run_.gpu_utilisation /= whole;
    run_.cpu_utilisation /= whole;
    run_.memory_utilisation /= whole;
    run_.kept_idle /= whole;
    if (sharing_) run_.sharing = sharing_->Figures();
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
      const WallTime end = clocks_ + (accounted_.time_since_epoch() - kBeginning);
      run_.failures = failures_->TakeFigures({accounted_, end});
    }
    return std::move(run_);
  }

 private:
  struct JobState {
    std::vector<std::string> pods;
    std::vector<uint32_t> missing = {};                // ordinals of lost pods to be replaced
    std::string gpu_product = {};                      // selected by its pods; empty: any
    uint32_t runs = 0;                                 // that began, including the present one
    uint32_t started = 0;                              // number of pods
    bool goes = false;                                 // all its pods run
    bool broken = false;                               // a node with one of its pods is lost
    int64_t workers = 0;                               // in its next run; 0: as in the trace
    std::optional<Instant> kept_since = std::nullopt;  // since when it waits for a better place
    // For jobs that fail: when the attempt fails, when the next one begins, how much work was left
    // when the present one began, and the nodes that it avoids until then.
    std::optional<Instant> fails_at = std::nullopt;
    std::optional<Instant> retry_at = std::nullopt;
    Seconds work_left = {};
    std::vector<std::string> avoids = {};
    Instant avoids_until = {};
  };
  struct Owner {
    size_t job = 0;
    uint32_t ordinal = 0;
  };
  // Fractions of the cluster x seconds.
  struct Use {
    double gpus = 0;
    double cpu = 0;
    double memory = 0;
    double kept_idle = 0;
  };

  // Returns whether places of lost gang members are reserved for their replacements.
  bool HasVacancies() const {
    return !options_.baseline &&
           (options_.faults.node_lost > 0 || options_.failures || HasPriorities());
  }

  bool HasPriorities() const {
    return std::any_of(trace_.begin(), trace_.end(),
                       [](const ProductJob& job) { return job.priority != 0; });
  }

  void PutNode(const Node& node) {
    state_.UpsertNode(node);
    if (&controllers_ != &state_) controllers_.UpsertNode(node);
  }

  void SetUp(const StartingCluster& cluster) {
    if (options_.sharing) SetUpSharing();
    for (Node node : cluster.nodes) {
      largest_gpus_ = std::max(largest_gpus_, node.allocatable.main.gpus);
      if (sharing_) {
        sharing_->SetNode(node.name, node.allocatable.main.gpus, ProductOf(node));
        node.allocatable.main.gpus = node.allocatable.main.gpus * options_.sharing->height;
        node.pods_allowed = std::max(node.pods_allowed, node.allocatable.main.gpus.count());
      }
      total_ += node.allocatable.main;
      if (node.allocatable.main.gpus > Gpus(0))
        gpus_of_[ProductOf(node)] += node.allocatable.main.gpus;
      nodes_.emplace(node.name, node);
      if (const auto lost = faults_.UntilNodeLost()) Plan(*lost, EventKind::kNodeLost, node.name);
      running_.SetNode(
          node.name, node.allocatable.main.cpu,
          std::string(FindLabel(node.labels, options_.locality.rack_label).value_or("")),
          options_.storage ? options_.storage->bandwidth : Bytes(0));
      PutNode(node);
    }
    if (options_.reservations && !options_.baseline) {
      reservations_.emplace(*options_.reservations, state_, [this](const std::string& uid) {
        const auto owner = owners_.find(uid);
        return owner == owners_.end() ? std::nullopt
                                      : running_.RemainingOf(owner->second.job, now_);
      });
      scheduler_.SetReservations(&*reservations_);
    }
    scheduler_.SetWholeNodes(options_.whole_nodes);
    if (options_.storage && options_.storage->known) {
      storage_.emplace(options_.storage->bandwidth, product_profiles_);
      scheduler_.SetStorage(&*storage_);
    }
    starting_pods_ = cluster.pods.size();
    for (const Pod& pod : cluster.pods) {
      pods_.Create(GoingOn(pod, cluster.at));
      if (options_.remaining && pod.UsesGpus()) Own(pod, *options_.remaining);
      if (pod.node.empty()) {
        scheduler_.Add(pod, now_);
      } else {
        GoOn(*pods_.Find(pod.uid));
      }
    }
    if (options_.cpu_pods.per_hour > 0) {
      cpu_pods_.emplace(options_.cpu_pods);
      Plan(cpu_pods_->UntilNext(), EventKind::kCpuPodComes, {});
    }
    if (options_.live_profiles) {
      profiling_.emplace(published_, state_, pods_, running_, profiles_);
    }
    if (options_.queue) {
      Gpus quota = total_.gpus;
      for (const Pod& pod : cluster.pods) quota -= pod.requests.main.gpus;
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
    if (!options_.baseline) {
      tuner_.emplace(
          options_.tuner, product_profiles_, storage_ ? &*storage_ : nullptr, controllers_, pods_,
          [this](const std::string& uid) {
            Plan(options_.latencies.resize, EventKind::kResize, uid);
          },
          faults_, present());
    }
    if (!options_.baseline && HasPriorities()) {
      GangPreemptionSettings settings;
      settings.rules.scheduler_name = options_.tuner.scheduler_name;
      preemption_.emplace(settings, controllers_, pods_, faults_,
                          [this](const auto& pods) { Evict(pods); });
    }
    if (HasPriorities() && !sharing_) scheduler_.SetPreemption();
    Settle();
  }

  void SetUpSharing() {
    Seconds last = run_.begin;
    for (const ProductJob& job : trace_) last = std::max(last, job.arrival);
    sharing_.emplace(*options_.sharing, Instant(kBeginning), ToInstant(last));
    scheduler_.SetRank([this](const Pod& pod, const std::string& node) {
      return sharing_->RankOf(node, SharedPodOf(owners_.at(pod.uid).job));
    });
  }

  SharedGpus::Pod SharedPodOf(size_t job) const {
    const ProductJob& of = trace_[job];
    return {.job = job,
            .model = of.model,
            .gpus = of.gpus,
            .iterations_per_second = of.iterations > 0 ? of.iterations / of.ideal.count() : 1};
  }

  bool ChoosesTypes() const {
    return options_.queue && options_.queue->rounds.gpu_types != GpuTypes::kNone;
  }

  // Returns the product of the node's GPUs; empty if it has several products or is unknown.
  static std::string ProductOf(const Node& node) {
    return node.gpu_kinds.products.size() == 1 ? node.gpu_kinds.products.front() : std::string();
  }

  void SetUpTypes() {
    std::set<std::string> models;
    for (const ProductJob& job : trace_) models.insert(job.model);
    std::vector<std::string> products;
    for (const auto& [product, gpus] : gpus_of_) products.push_back(product);
    on_products_.emplace(profiles_, options_.pod_namespace,
                         std::vector<std::string>(models.begin(), models.end()), products,
                         options_.gpu_speeds);
    type_speeds_.emplace(
        controllers_, *on_products_, [this](Gpus gpus, const std::string& product) {
          return LeastFairShare(*controllers_.Snapshot(), nullptr, gpus, product, {});
        });
    types_.emplace(*type_speeds_, MakeJobOrder);
  }

  // Returns what the pod's training logs.
  PodProgress LogOf(const std::string& uid) const {
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

  // Returns whether the job's number of pods may change.
  bool IsElastic(size_t job) const {
    return options_.elastic && trace_[job].gpus.count() % PodCountOf(job) == 0;
  }

  // Returns the number of pods that the job has in the trace.
  int64_t PodCountOf(size_t job) const { return PodCount(trace_[job].gpus, MostPodGpus()); }

  // Returns how much faster the job is with `workers` pods than with its own number.
  double FactorOf(size_t job, int64_t workers) const {
    const auto speed = [this](int64_t pods) {
      const auto n = static_cast<double>(pods);
      return n / (1 + options_.elastic->serial * (n - 1));
    };
    return speed(workers) / speed(PodCountOf(job));
  }

  Result<> CheckElastic() const {
    if (!options_.elastic) return {};
    if (!options_.queue || !options_.queue->rounds.elastic)
      return Fail(ErrorCode::kInvalid, "elastic jobs need a queue with workers: Elastic");
    if (options_.live_profiles) {
      return Fail(ErrorCode::kInvalid,
                  "elastic jobs have profiles from the beginning: they are not measured live");
    }
    return {};
  }

  Result<> CheckSharing() const {
    if (!options_.sharing) return {};
    if (options_.queue || options_.live_profiles || options_.profiles_after || options_.baseline ||
        options_.faults.node_lost > 0 || options_.failures || options_.reservations ||
        starting_pods_ > 0) {
      return Fail(ErrorCode::kInvalid,
                  "sharing: only for jobs with profiles that do not fail, without a queue and "
                  "reservations, in a cluster that begins without pods and loses no nodes");
    }
    for (size_t job = 0; job < trace_.size(); ++job) {
      const Gpus gpus = trace_[job].gpus;
      const bool has_place = std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& node) {
        const int64_t has = node.second.allocatable.main.gpus.count() / options_.sharing->height;
        return has >= gpus.count() && has % gpus.count() == 0;
      });
      if (has_place) continue;
      return Fail(ErrorCode::kInvalid,
                  fmt::format("sharing: job {} has {} GPUs, which divides no node's GPUs; gangs do "
                              "not share GPUs in the simulation",
                              trace_[job].id, gpus.count()));
    }
    if (!options_.sharing->pairs.empty() && gpus_of_.contains("")) {
      return Fail(ErrorCode::kInvalid,
                  "sharing: pairs have speeds by GPU product, but some nodes have none: give each "
                  "node one");
    }
    return {};
  }

  Result<> CheckTypes() const {
    const bool differ = std::any_of(trace_.begin(), trace_.end(), [&](const ProductJob& job) {
      return std::any_of(gpus_of_.begin(), gpus_of_.end(), [&](const auto& entry) {
        return options_.gpu_speeds.Of(job.model, entry.first) != 1;
      });
    });
    if (differ && (options_.live_profiles || options_.profiles_after)) {
      return Fail(ErrorCode::kInvalid,
                  "models whose speeds differ by GPU product have profiles from the beginning: the "
                  "profiler measures them on one product alone");
    }
    if (!ChoosesTypes()) return {};
    if (gpus_of_.contains("")) {
      return Fail(ErrorCode::kInvalid,
                  "gpuTypes: some nodes have no GPU product, or several: give each node one");
    }
    Gpus most;
    for (const auto& [product, gpus] : gpus_of_) most = std::max(most, gpus);
    for (const ProductJob& job : trace_) {
      if (job.gpus <= most) continue;
      return Fail(ErrorCode::kInvalid,
                  fmt::format("gpuTypes: job {} asks for {} GPUs, but no product has more than {}",
                              job.id, job.gpus.count(), most.count()));
    }
    return {};
  }

  Result<> CheckGpus() const {
    for (const ProductJob& job : trace_) {
      if (job.gpus <= total_.gpus && job.gpus > Gpus(0)) continue;
      return Fail(ErrorCode::kInvalid,
                  fmt::format("job {} asks for {} GPUs, but the cluster has {}", job.id,
                              job.gpus.count(), total_.gpus.count()));
    }
    return {};
  }

  // Returns whether the remaining jobs can never run, because pods that run forever have the
  // resources that they need.
  bool Hopeless() const {
    return going_ == 0 && next_arrival_ == arrivals_.size() && now_ - progressed_ >= kGiveUpAfter;
  }

  // Registers a pod of the starting cluster as a separate job, after those of the trace.
  void Own(const Pod& pod, Seconds remaining) {
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

  // Resumes a pod of the starting cluster where it is.
  void GoOn(const SimulatedPod& pod) {
    if (pod.fungible && !pod.fungible->reported) {
      Plan(options_.latencies.start, EventKind::kStarted, pod.uid());
      return;
    }
    RunPod(pod);
    if (pod.fungible && !pod.fungible->Settled()) {
      Plan(options_.latencies.resize, EventKind::kResize, pod.uid());
    }
  }

  bool InTrace(size_t job) const { return job < trace_.size(); }
  bool IsMeasured(const std::string& uid) const {
    const auto owner = owners_.find(uid);
    return owner != owners_.end() && InTrace(owner->second.job);
  }

  Moment present() const { return {now_, clocks_ + (now_.time_since_epoch() - kBeginning)}; }
  Seconds ToSeconds(Instant at) const {
    return run_.begin + Seconds(at.time_since_epoch() - kBeginning);
  }
  Instant ToInstant(Seconds at) const {
    const double since = (at - run_.begin).count();
    return Instant(kBeginning +
                   Duration(std::llround(since * static_cast<double>(kNanosecondsPerSecond))));
  }

  void Plan(Duration after, EventKind kind, std::string uid) {
    events_.push({.at = now_ + after, .number = ++numbers_, .kind = kind, .uid = std::move(uid)});
  }
  void PlanOf(size_t job, Duration after, EventKind kind) {
    events_.push({.at = now_ + after, .number = ++numbers_, .kind = kind, .job = job});
  }

  Instant NextTime() const {
    Instant next = std::min(tuner_due_, profiles_due_);
    if (tuner_) next = std::min(next, tuner_->wake());
    if (profiling_) next = std::min(next, profiling_->wake());
    if (preemption_) next = std::min(next, preemption_->wake());
    if (queue_) next = std::min(next, queue_->wake());
    if (reservations_) next = std::min(next, reservations_->due());
    if (sharing_) next = std::min(next, sharing_->wake());
    if (!events_.empty()) next = std::min(next, events_.top().at);
    if (next_arrival_ < arrivals_.size()) {
      next = std::min(next, ToInstant(trace_[arrivals_[next_arrival_]].arrival));
    }
    if (const auto work = scheduler_.NextWork(); work && !scheduling_) next = std::min(next, *work);
    return std::max(next, now_);
  }

  tl::unexpected<Error> Stuck() const {
    const auto stuck = std::find_if(run_.jobs.begin(), run_.jobs.end(),
                                    [](const JobRun& job) { return job.finish < Seconds(0); });
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("{} jobs are not finished after {:.0f} simulated days; job {} is the first",
                    trace_.size() - finished_, options_.limit.count() / 86400, stuck->id));
  }

  Result<> Arrive() {
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

  bool HasModelProfiles() const {
    return !options_.live_profiles && profiles_due_ == Instant::max();
  }

  // Publishes the true profiles to the product (ProductOptions::profiles_after).
  void PublishTruth() {
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

  std::string NameOf(size_t job) const { return fmt::format("job-{}", trace_[job].id); }
  Gpus MostPodGpus() const {
    return std::min(largest_gpus_, options_.pod_gpus.value_or(largest_gpus_));
  }

  // Creates and deletes pods as Kueue requires.
  Result<> RunQueue() {
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

  // Ends a job's pods. Keeps what the job has done.
  void Interrupt(size_t index) {
    EndPods(index, [this, index] {
      if (jobs_[index].runs > 0) running_.Suspend(index, now_);
    });
    StopRetries(index);
    scheduler_.PodsDeleted(now_);
    Draw();
  }

  // Stops creating pods for the job.
  void StopRetries(size_t index) {
    std::erase(without_pods_, index);
    std::erase(again_, index);
    jobs_[index].retry_at.reset();
  }

  void Suspend(size_t index) {
    Interrupt(index);
    queue_->PodsGone(NameOf(index), present());
  }

  bool HasPodOn(const JobState& job, const std::string& node) const {
    return std::any_of(job.pods.begin(), job.pods.end(),
                       [&](const std::string& uid) { return pods_.Find(uid)->node == node; });
  }

  // Stops trainings with a pod on the node, to which no pod can go any more.
  void LoseNode(const std::string& name) {
    lost_.insert(name);
    Node node = nodes_.at(name);
    node.unschedulable = true;
    PutNode(node);
    if (types_) queue_->NodesChanged(present());
    for (size_t index = 0; index < trace_.size(); ++index) {
      if (!HasPodOn(jobs_[index], name)) continue;
      jobs_[index].broken = true;
      running_.Suspend(index, now_);
      PauseAttempt(index);
    }
    Plan(Faults::kPodsDeleted, EventKind::kPodsDeleted, name);
    Plan(Faults::kNodeBack, EventKind::kNodeBack, name);
  }

  // Lets the controllers of jobs replace the pods that were there. The jobs continue from their
  // checkpoints.
  void DeletePodsOf(const std::string& node) {
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

  void ReplaceLater(size_t index) {
    jobs_[index].retry_at = now_ + Faults::kReplaced;
    PlanOf(index, Faults::kReplaced, EventKind::kRetry);
  }

  // The pods have written checkpoints and end at once.
  void Evict(const std::vector<std::shared_ptr<const Pod>>& pods) {
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

  // Returns whether some of the job's pods run on nodes that are not lost, and stay there while
  // `lost` are replaced.
  bool OthersStay(const JobState& job, const std::vector<std::string>& lost) const {
    return std::any_of(job.pods.begin(), job.pods.end(), [&](const std::string& uid) {
      return HasStarted(uid) && std::find(lost.begin(), lost.end(), uid) == lost.end();
    });
  }

  // Returns whether the pod's container runs, on a node that is not lost.
  bool HasStarted(const std::string& uid) const {
    const SimulatedPod& pod = *pods_.Find(uid);
    return !pod.waits() && pod.fungible->reported && !lost_.contains(pod.node);
  }

  // Deletes bound pods of a gang while others of it stay. MakePods() makes their replacements.
  void LoseMembers(size_t index, const std::vector<std::string>& lost) {
    JobState& job = jobs_[index];
    if (std::exchange(job.goes, false)) {
      --going_;
      --running_jobs_;
    }
    PauseAttempt(index);
    running_.Suspend(index, now_);
    const std::string gang = pods_.Find(lost.front())->gang()->name;
    // The extender does this every second; the time of its reservations counts from then.
    state_.DropStaleExpectations(now_, present().wall);
    for (const std::string& uid : lost) {
      const SimulatedPod& pod = *pods_.Find(uid);
      if (queue_) queue_->RemovePod(uid, present());
      if (reservations_) reservations_->Lose(uid);
      Note(PlaceChange::Kind::kGone, pod, pod.CountedByKubeScheduler());
      running_.Stop(pod.node, uid, now_);
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

  static void AddPlace(JobPlace& place, const std::string& node, const ResourceVector& amounts) {
    place.nodes += (place.nodes.empty() ? "" : " ") + node;
    place.bound_with += amounts;
  }

  bool IsCpuPod(const std::string& uid) const {
    return cpu_pods_ && cpu_pods_->uids().contains(uid);
  }

  void CreateCpuPod() {
    const Pod pod = cpu_pods_->Come(options_.pod_namespace, present().wall);
    pods_.Create(pod);
    scheduler_.Add(pod, now_);
  }

  // REQUIRES: it has a node.
  void RemoveCpuPod(const std::string& uid) {
    running_.Stop(pods_.Find(uid)->node, uid, now_);
    pods_.Remove(uid);
    cpu_pods_->Go(uid);
    Draw();
  }

  void ReturnNode(const std::string& name) {
    lost_.erase(name);
    PutNode(nodes_.at(name));
    scheduler_.NodeReturned();
    if (types_) queue_->NodesChanged(present());
    more_gpus_ = true;  // its GPUs are known again
    if (const auto lost = faults_.UntilNodeLost()) Plan(*lost, EventKind::kNodeLost, name);
  }

  Result<> MakePodsAgain() {
    for (const size_t index : std::exchange(again_, {})) {
      if (auto made = MakePods(index); !made) return made;
    }
    return {};
  }

  // Creates the job's pods, or those that are missing; defers that while no GPUs are known to be
  // free for them.
  Result<> MakePods(size_t index) {
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
      if (queue_) queue_->AddPod(NameOf(index), pod.uid, present());
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

  // Returns the true slowdown of the model, whether or not the product knows it.
  SpreadCost SpreadOf(const std::string& model) const {
    const auto known = profiles_.Known(options_.pod_namespace, model);
    return known && known->object.profile ? known->object.profile->spread() : SpreadCost{};
  }

  // Retries deferred jobs: a pod that Synergy does not manage may have freed GPUs.
  Result<> MakeLatePods() {
    if (!std::exchange(more_gpus_, false)) return {};
    for (const size_t index : std::exchange(without_pods_, {})) {
      if (auto made = MakePods(index); !made) return made;
    }
    return {};
  }

  void Handle(const Event& event) {
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
        if (const SimulatedPod* pod = pods_.Find(event.uid); pod && lost_.contains(pod->node))
          return;
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

  // Runs all immediate consequences of the last event.
  void Settle() {
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
    if (sharing_) {
      for (const auto& [job, factor] : sharing_->Run(now_))
        running_.SetGpuFactor(job, factor, now_);
    }
    for (const JobProgress::Finish& finish : running_.TakeFinishes()) {
      events_.push(
          {.at = finish.at, .number = ++numbers_, .kind = EventKind::kFinish, .finish = finish});
    }
    if (!scheduling_ && scheduler_.HasWork(now_)) {
      scheduling_ = true;
      Plan(options_.latencies.schedule, EventKind::kAttempt, {});
    }
    if (observer_ != nullptr) observer_->Look(ToSeconds(now_), *state_.Snapshot());
  }

  void Tune() {
    if (!tuner_) return;
    if (now_ >= tuner_due_ || now_ >= tuner_->wake()) {
      tuner_->Run(present());
      tuner_observed_ = pods_.writes();
      tuner_due_ = Instant::max();
    } else if (tuner_due_ == Instant::max() && tuner_observed_ != pods_.writes()) {
      tuner_due_ = now_ + options_.latencies.tune;
    }
  }

  void PlanReservationsNow() {
    if (reservations_->Plan(now_)) scheduler_.ReservationsChanged();
    if (tuner_) tuner_->SetReservations(reservations_->InTermsOfPods(), now_);
  }

  void Attempt() {
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

  void MarkUnschedulable(const std::string& uid) {
    if (pods_.Find(uid)->waiting.unschedulable) return;
    pods_.WriteStatus(uid, [this](SimulatedPod& pod) {
      pod.waiting.unschedulable = true;
      pod.waiting.since = present().wall;
    });
  }

  void NoteLocality(const SimulatedScheduler::Attempt& attempt) {
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

  void Bind(const std::string& uid) {
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
    if (!AdmitsAll(as_planned.node)) return Refuse(uid);
    if (queue_) queue_->BindPod(uid, as_planned.node, present());
    Plan(options_.latencies.start, EventKind::kStarted, uid);
    Note(PlaceChange::Kind::kBound, *pods_.Find(uid), as_planned.requests.main);
    if (IsMeasured(uid)) {
      AddPlace(run_.places[owners_.at(uid).job], as_planned.node, as_planned.requests.main);
    }
    Draw();
  }

  // Returns whether the node's kubelet has room for all pods that are bound to it.
  bool AdmitsAll(const std::string& name) const {
    const auto node = nodes_.find(name);
    if (!cpu_pods_ || node == nodes_.end()) return true;
    const ResourceVector free = node->second.allocatable.main - pods_.AllocatedOn(name);
    return free.cpu >= MilliCpu(0) && free.memory >= Bytes(0);
  }

  // Makes the kubelet fail the pod (OutOfcpu, OutOfmemory), because pods of two schedulers, or a
  // pod and a resize, collided. The pod's owner creates another one; a job restarts as a whole.
  void Refuse(const std::string& uid) {
    if (IsCpuPod(uid)) {
      RemoveCpuPod(uid);
      CreateCpuPod();
      return;
    }
    const size_t job = owners_.at(uid).job;
    Interrupt(job);
    again_.push_back(job);
  }

  void RunPod(const SimulatedPod& pod) {
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
        running.speed =
            options_.gpu_speeds.Of(trace_[running.job].model, ProductOf(nodes_.at(pod.node)));
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
        ++going_;
        if (InTrace(running.job)) {
          JobRun& run = run_.jobs[running.job];
          if (run.start < Seconds(0)) {
            run.start = ToSeconds(now_);
          } else {
            ++run.restarts;
          }
          ++running_jobs_;
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

  void Resize(const std::string& uid) {
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

  // Deletes a job's pods, including those that wait or are being bound. `end`: ends the job's
  // progress while its pods are still in place.
  void EndPods(size_t index, const std::function<void()>& end) {
    JobState& job = jobs_[index];
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

  void RunAttempt(size_t index) {
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

  void PauseAttempt(size_t index) {
    if (!failures_ || !InTrace(index)) return;
    failures_->Pause(index, present());
    jobs_[index].fails_at.reset();
  }

  void FailAttempt(size_t index) {
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

  // Ends a job that has failed permanently. `end`: as in EndPods().
  void GiveUp(size_t index, const std::function<void()>& end) {
    EndPods(index, end);
    StopRetries(index);
    scheduler_.PodsDeleted(now_);
    run_.jobs[index].failed = true;
    Leave(index);
  }

  void Finish(size_t index) {
    if (failures_ && InTrace(index)) failures_->Pass(index, present());
    if (reservations_ && !jobs_[index].pods.empty())
      reservations_->Finished(jobs_[index].pods.front(), now_);
    EndPods(index, [this, index] {
      const auto first_part = running_.FirstPartDone(index, now_);
      if (first_part && InTrace(index)) run_.jobs[index].first_part = ToSeconds(*first_part);
    });
    Leave(index);
  }

  // Records that the job's pods are gone permanently.
  void Leave(size_t index) {
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

  void Note(PlaceChange::Kind kind, const SimulatedPod& pod, const ResourceVector& amounts) {
    if (!options_.keep_changes || IsCpuPod(pod.uid())) return;
    std::optional<uint64_t> job;
    if (IsMeasured(pod.uid())) job = trace_[owners_.at(pod.uid()).job].id;
    run_.changes.push_back({ToSeconds(now_), job, kind, pod.uid(), pod.node, amounts});
  }

  // Returns the amounts allocated from now on.
  ResourceVector Allocated() const { return pods_.counted(); }

  void Account(Instant until) {
    const ResourceVector allocated = Allocated();
    const double time = Seconds(until - accounted_).count();
    used_.gpus += time * Part(allocated.gpus.count(), total_.gpus.count());
    const Gpus wanted = std::min(scheduler_.kept_waiting(), total_.gpus - allocated.gpus);
    used_.kept_idle += time * Part(wanted.count(), total_.gpus.count());
    used_.cpu += time * Part(allocated.cpu.count(), total_.cpu.count());
    used_.memory += time * Part(allocated.memory.count(), total_.memory.count());
    accounted_ = until;
  }

  // Sets the end of the run, until a later call, and the use of the cluster until then.
  void EndAt(Seconds at) {
    run_.end = at;
    run_.gpu_utilisation = used_.gpus;
    run_.cpu_utilisation = used_.cpu;
    run_.memory_utilisation = used_.memory;
    run_.kept_idle = used_.kept_idle;
  }

  void Draw() {
    const ResourceVector allocated = Allocated();
    run_.timeline.push_back(
        {.at = ToSeconds(now_),
         .gpus = Part(allocated.gpus.count(), total_.gpus.count()),
         .cpu = Part(allocated.cpu.count(), total_.cpu.count()),
         .memory = Part(allocated.memory.count(), total_.memory.count()),
         .running = static_cast<uint32_t>(running_jobs_),
         .waiting = static_cast<uint32_t>(arrived_ - finished_ - running_jobs_)});
  }

  static double Part(int64_t amount, int64_t whole) {
    return static_cast<double>(amount) / std::max(static_cast<double>(whole), 1.0);
  }

  std::span<const ProductJob> trace_;
  const ModelProfiles& profiles_;
  const ProductOptions& options_;
  const Progress& progress_;
  ProductObserver* const observer_;

  ClusterState state_;  // the extender's, with places of lost gang members
  // The view of the controller and of admission if members can be lost; otherwise that is `state_`.
  ClusterState of_controllers_;
  ClusterState& controllers_;
  ModelProfiles published_;                // profiles made known during the run
  const ModelProfiles& product_profiles_;  // the profiles that admission and the tuner use
  SimulatedSurroundings surroundings_;
  const WallTime clocks_;  // wall time at the beginning
  AdmissionSettings admission_;
  Faults faults_;
  std::optional<CpuPods> cpu_pods_;
  std::optional<FailingJobs> failures_;
  SimulatedScheduler scheduler_;
  SimulatedPods pods_;
  SimulatedKubelet kubelet_;
  JobProgress running_;
  std::optional<SimulatedStorage> storage_;
  std::optional<TunerDriver> tuner_;
  std::optional<ProfilingDriver> profiling_;
  std::optional<PreemptionDriver> preemption_;
  std::optional<ReservationDriver> reservations_;
  std::optional<ProfilesOnProducts> on_products_;  // these three: under a policy of GPU types
  std::optional<GpuTypeSpeeds> type_speeds_;
  std::optional<GpuTypePlanner> types_;
  std::optional<QueueDriver> queue_;
  std::optional<SharedGpus> sharing_;

  ResourceVector total_;
  Gpus largest_gpus_;                    // of one node
  std::map<std::string, Gpus> gpus_of_;  // by product
  std::unordered_map<std::string, Node> nodes_;
  std::set<std::string> lost_;                       // nodes
  std::vector<size_t> arrivals_;                     // indexes of the trace's jobs by arrival
  std::unordered_map<std::string, size_t> by_name_;  // the trace's jobs, if they queue
  std::vector<JobState> jobs_;                       // those of the trace, then the starting pods
  std::unordered_map<std::string, Owner> owners_;    // by pod
  std::unordered_map<std::string, Pod> planned_;     // pods being bound
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t numbers_ = 0;
  Instant now_{};
  Instant tidied_{};
  Instant profiles_due_ = Instant::max();
  Instant tuner_due_ = Instant::max();  // when the tuner runs for unread writes
  uint64_t tuner_observed_ = 0;         // number of writes that the tuner has read
  Instant accounted_{};
  Use used_;              // the use up to the last event
  Instant progressed_{};  // when a job last arrived, started or ended
  size_t starting_pods_ = 0;
  size_t going_ = 0;                  // running jobs, including the starting pods
  std::vector<size_t> without_pods_;  // jobs that have arrived, but wait for known GPUs
  std::vector<size_t> again_;         // jobs whose pods must be created again
  bool more_gpus_ = false;            // GPUs may be known now that were unknown at the last retry
  bool scheduling_ = false;           // an attempt is in progress
  size_t next_arrival_ = 0;
  size_t arrived_ = 0;
  size_t running_jobs_ = 0;
  size_t finished_ = 0;
  SimulationRun run_;
};

}  // namespace

StartingCluster ClusterOf(size_t servers, const ResourceVector& server, size_t per_rack) {
  StartingCluster cluster;
  for (size_t number = 1; number <= servers; ++number) {
    Node node;
    node.name = ServerName(number - 1);
    if (per_rack > 0) {
      node.labels = {
          {std::string(kSimulatedRackLabel), fmt::format("rack-{}", (number - 1) / per_rack + 1)}};
    }
    node.allocatable.main = server;
    node.gpu_kinds.installed = server.gpus;
    node.pods_allowed = std::max<int64_t>(110, server.gpus.count());
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

void SetProduct(std::string_view product, std::span<Node> nodes) {
  for (Node& node : nodes) {
    const auto label =
        std::lower_bound(node.labels.begin(), node.labels.end(), kGpuProductLabel,
                         [](const auto& entry, std::string_view key) { return entry.first < key; });
    node.labels.emplace(label, kGpuProductLabel, product);
    node.gpu_kinds.products = {std::string(product)};
  }
}

std::span<const MechanismName> ProductMechanisms() { return kMechanisms; }

std::span<const MechanismName> BaselineMechanisms() { return kBaselines; }

bool SetMechanism(std::string_view name, ProductOptions& options) {
  size_t index = 0;
  for (const auto& names : {ProductMechanisms(), BaselineMechanisms()}) {
    for (const MechanismName& known : names) {
      const Mechanism& how = kHow[index++];
      if (known.name != name) continue;
      options.enforcement = how.enforcement;
      options.baseline = how.baseline;
      return true;
    }
  }
  return false;
}

Result<SimulationRun> SimulateProduct(const StartingCluster& cluster,
                                      std::span<const ProductJob> jobs,
                                      const ModelProfiles& profiles, const ProductOptions& options,
                                      const Progress& progress, ProductObserver* observer) {
  return ProductSimulation(cluster, jobs, profiles, options, progress, observer).Run();
}

}  // namespace synergy
