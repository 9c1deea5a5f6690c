#include "sim/queue/queue_driver.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "gavel/policies/job_order.h"
#include "gavel/type_policies.h"
#include "queues/planner/gpu_type_answers.h"
#include "queues/planner/policy_forms.h"
#include "queues/round_workload.h"

namespace synergy {
namespace {

constexpr char kClusterQueue[] = "train";
constexpr char kLocalQueue[] = "train";
constexpr char kFlavor[] = "gpus";
constexpr Duration kStepInterval = std::chrono::seconds(1);
// The controller's limit per second (QueueController::kWritesPerSecond).
constexpr size_t kWritesPerStep = 20;
// The default of the controller's typePatience. It is never reached, because the planner always
// decides.
constexpr Duration kTypePatience = std::chrono::seconds(30);
// The most consecutive steps to plan while a workload only waits for room. They include the five
// seconds after which the planner again raises a workload that Kueue has passed over.
constexpr uint32_t kMostWaited = 10;

KueueQueue QueueOf(const QueueSetup& setup, const std::string& job_namespace, Gpus quota) {
  return {.name = kClusterQueue,
          .local_queue = job_namespace + "/" + kLocalQueue,
          .quotas = {{kFlavor, quota}},
          .strict = setup.strict,
          .checks_types = setup.rounds.gpu_types != GpuTypes::kNone};
}

RoundPolicy PolicyOf(const RoundSettings& settings) {
  RoundPolicy policy;
  policy.uid = policy.name = "simulated";
  policy.cluster_queues = {kClusterQueue};
  policy.settings = settings;
  return policy;
}

// Makes a step's writes in the model.
class ModelWriter final : public WorkloadWriter {
 public:
  ModelWriter(KueueModel& kueue, Faults* faults, Moment at)
      : kueue_(kueue), faults_(faults), at_(at) {}

  std::vector<WriteOutcome> WriteJobs(const std::vector<WorkersWrite>& writes) {
    std::vector<WriteOutcome> outcomes(writes.size(), WriteOutcome::kNotTried);
    for (size_t index = 0; index < writes.size() && MayWrite(); ++index)
      outcomes[index] = Make(writes[index]);
    return outcomes;
  }

  // Writes are seen at once.
  bool IsUnseen(const WorkloadWrite& /*write*/) override { return false; }
  bool MayWrite() override { return made_ < kWritesPerStep; }
  WriteOutcome Write(const WorkloadWrite& write) override { return Make(write); }

 private:
  template <class OneWrite>
  WriteOutcome Make(const OneWrite& write) {
    ++made_;
    if (faults_ != nullptr && faults_->CallFails()) return WriteOutcome::kFailed;
    return kueue_.Write(write, at_);
  }

  KueueModel& kueue_;
  Faults* const faults_;
  const Moment at_;
  size_t made_ = 0;
};

}  // namespace

Result<> CheckQueue(const QueueSetup& setup) {
  if (auto form = CheckForm(setup.rounds); !form) return form;
  if (setup.rounds.gpu_types != GpuTypes::kNone) {
    const auto policy = ParseTypePolicy(
        TypePolicyOf(setup.rounds.policy, setup.rounds.gpu_types == GpuTypes::kAware));
    if (!policy) return Fail(policy.error());
    if (!MakeJobOrder(policy->program)) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("policy: {} with gpuTypes needs a solver, which the simulator does "
                              "not have: use fifo or sjf; synergy-lab rounds --types has all",
                              setup.rounds.policy));
    }
  }
  if (const auto rounds = Rounds::Make(setup.rounds); !rounds) return Fail(rounds.error());
  return {};
}

Result<> ReadPolicy(std::string_view text, RoundSettings& settings) {
  const size_t colon = std::min(text.find(':'), text.size());
  settings.policy = text.substr(0, colon);
  settings.gpu_types = GpuTypes::kNone;
  settings.elastic = false;
  if (colon == text.size()) return {};
  const std::string_view types = text.substr(colon + 1);
  settings.elastic = types == "Elastic";
  if (settings.elastic) return {};
  for (const GpuTypes known : {GpuTypes::kIgnore, GpuTypes::kAware}) {
    if (ToString(known) == types) settings.gpu_types = known;
  }
  if (settings.gpu_types != GpuTypes::kNone) return {};
  return Fail(ErrorCode::kInvalid,
              fmt::format("{}: write POLICY, POLICY:Ignore, POLICY:Aware or POLICY:Elastic", text));
}

QueueDriver::QueueDriver(const QueueSetup& setup, const std::string& job_namespace, Gpus quota,
                         ProgressOf progress, PodRoom room, TypeChooser* types, Moment at)
    : job_namespace_(job_namespace),
      rounds_(*Rounds::Make(setup.rounds)),
      kueue_(setup.delays),
      types_(types == nullptr ? no_types_ : *types),
      planner_(
          std::move(progress), [](const std::string&, const std::string&) { return false; },
          std::move(room), types_),
      began_(at),
      stepped_(at.now - kStepInterval) {
  kueue_.AddQueue(QueueOf(setup, job_namespace, quota));
  kueue_.Put(PolicyOf(setup.rounds));
  if (setup.rounds.elastic) kueue_.AllowElastic();
}

void QueueDriver::Add(const QueueJob& job, Moment at) {
  BeforeChange(at);
  Workload workload;
  workload.uid = workload.name = job.name;
  workload.workload_namespace = job_namespace_;
  workload.owner = {"batch/v1", "Job", job.name, job.name};
  workload.local_queue = kLocalQueue;
  workload.pods = job.pods;
  workload.gpus = job.gpus;
  workload.gpu_sets = {"main"};
  workload.alike = job.model;
  workload.pod_gpus = Gpus((job.gpus.count() + job.pods - 1) / job.pods);
  workload.priority = job.priority;
  workload.may_lose_turn = job.may_lose_turn;
  workload.longest = job.longest;
  if (job.most > 0) {
    kueue_.PutJob({.uid = job.name,
                   .job_namespace = job_namespace_,
                   .name = job.name,
                   .workers = job.pods,
                   .least = job.least,
                   .most = job.most});
  }
  kueue_.Create(std::move(workload), at);
}

void QueueDriver::AddPod(const std::string& job, const std::string& uid, Gpus gpus, Moment at) {
  BeforeChange(at);
  QueuedPod& pod = pods_[uid];
  pod.uid = pod.name = uid;
  pod.pod_namespace = job_namespace_;
  pod.workload = job;
  pod.has_gpus = true;
  pod.gpus = gpus;
  kueue_.PutPod(pod);
}

void QueueDriver::ChangePod(const std::string& uid, Moment at,
                            const std::function<void(QueuedPod&)>& change) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  BeforeChange(at);
  change(pod->second);
  kueue_.PutPod(pod->second);
}

void QueueDriver::BindPod(const std::string& uid, const std::string& node, Moment at) {
  ChangePod(uid, at, [&](QueuedPod& pod) {
    pod.has_node = true;
    pod.node = node;
  });
}

void QueueDriver::RunPod(const std::string& uid, Moment at) {
  ChangePod(uid, at, [&](QueuedPod& pod) {
    pod.running = true;
    pod.since = at.wall;
  });
}

void QueueDriver::RemovePod(const std::string& uid, Moment at) {
  if (pods_.erase(uid) == 0) return;
  BeforeChange(at);
  kueue_.RemovePod(uid);
}

void QueueDriver::PodsGone(const std::string& job, Moment at) { kueue_.PodsGone(job, at); }

void QueueDriver::Finish(const std::string& job, Moment at) { kueue_.Finish(job, at); }

void QueueDriver::BeforeChange(Moment at) {
  if (std::exchange(changed_, true) || late_until_) return;
  // Use the last whole second before the change, which was skipped.
  const Duration since = at.now - began_.now;
  const Instant last = began_.now + since / kStepInterval * kStepInterval;
  if (last <= stepped_) return;
  Step({last, at.wall - (at.now - last)});
  changed_ = true;
}

Instant QueueDriver::NextStep() const {
  if (late_until_) return *late_until_;
  const Instant next = stepped_ + kStepInterval;
  if (changed_) return next;
  const WallTime round = round_ + rounds_.settings().round;
  const Duration until = round - (began_.wall + (stepped_ - began_.now));
  const Duration whole = (until + kStepInterval - Duration(1)) / kStepInterval * kStepInterval;
  return std::max(next, stepped_ + whole);
}

// While the queue is empty and unchanged, no step is planned.
Instant QueueDriver::wake() const {
  return kueue_.size() == 0 && !changed_ ? kueue_.wake() : std::min(kueue_.wake(), NextStep());
}

std::vector<KueueAction> QueueDriver::Run(Moment at) {
  std::vector<KueueAction> actions;
  if (kueue_.wake() <= at.now) {
    BeforeChange(at);
    actions = kueue_.Run(at);
  }
  if (late_until_ && *late_until_ <= at.now) {
    late_until_.reset();
    Write(at);
  }
  if (NextStep() <= at.now) {
    // Steps are at whole seconds; those before this one were skipped.
    const Duration since = at.now - began_.now;
    const Instant whole = began_.now + since / kStepInterval * kStepInterval;
    Step({whole, at.wall - (at.now - whole)});
  }
  return actions;
}

void QueueDriver::Step(Moment at) {
  const QueueObjects objects = kueue_.Objects();
  plan_ = planner_.Plan(objects, at);
  ++plans_;
  for (const PolicyStatusWrite& status : plan_.statuses)
    SYNERGY_CHECK(status.status.ready, "the simulated policy orders its queue");
  const bool resizes = !plan_.waiting_jobs.empty() || !plan_.running_jobs.empty();
  const bool moved = resizes || std::any_of(plan_.writes.begin(), plan_.writes.end(),
                                            [](const WorkloadWrite& write) {
                                              return write.kind != WorkloadWrite::Kind::kNote;
                                            });
  stepped_ = at.now;
  round_ = rounds_.RoundAt(at.wall);
  waited_ = !moved && WaitsForRoom(objects) ? waited_ + 1 : 0;
  changed_ = moved || (waited_ > 0 && waited_ <= kMostWaited);
  const Duration delay = faults_ == nullptr ? Duration::zero() : faults_->CallDelay();
  if (delay > Duration::zero() && (resizes || !plan_.writes.empty())) {
    late_until_ = at.now + delay;
    return;
  }
  Write(at);
}

void QueueDriver::Write(Moment at) {
  ModelWriter writer(kueue_, faults_, at);
  QueueOutcome outcome;
  outcome.waiting_jobs = writer.WriteJobs(plan_.waiting_jobs);
  outcome.writes = WriteInOrder(plan_, writer);
  outcome.running_jobs.resize(plan_.running_jobs.size());
  if (PendingQueues(plan_, outcome.writes).empty())
    outcome.running_jobs = writer.WriteJobs(plan_.running_jobs);
  planner_.OnResult(plan_, outcome);
  AnswerChecks(at);
}

void QueueDriver::AnswerChecks(Moment at) {
  if (rounds_.settings().gpu_types == GpuTypes::kNone) return;
  const std::vector<TypeAnswer> answers =
      PlanTypeAnswers(kueue_.Objects(), &types_, false, kTypePatience, at.wall);
  for (const TypeAnswer& answer : answers) {
    if (faults_ == nullptr || !faults_->CallFails()) kueue_.Answer(answer, at);
  }
  changed_ |= !answers.empty();
}

bool QueueDriver::WaitsForRoom(const QueueObjects& objects) const {
  bool waits = false;
  bool gives_way = false;
  for (const auto& [key, workload] : objects.workloads) {
    const bool turn = BandOf(*workload) == Band::kRuns;
    waits |= turn && !workload->has_quota;
    gives_way |= !turn && workload->has_quota;
  }
  return waits && gives_way;
}

}  // namespace synergy
