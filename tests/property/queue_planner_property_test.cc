// Tests the queue planner with the model of Kueue. Whatever jobs arrive, and whichever writes fail,
// are refused or late, or meet a changed object, every job ends, the quota is never exceeded, and
// priorities are restored when no policy orders the queue any more. That is also so if Kueue does
// not admit some jobs for a while, although their GPUs are free. When a recorded run is planned
// again, the plans are the same.

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "core/random.h"
#include "profile/pod_progress.h"
#include "queues/planner/queue_journal.h"
#include "queues/planner/queue_planner.h"
#include "queues/planner/type_chooser.h"
#include "record/replay.h"
#include "sim/queue/kueue_model.h"
#include "wire/journal/queue_steps.h"

namespace synergy::testing {
namespace {

using std::chrono::seconds;

constexpr char kQueue[] = "train";
constexpr Gpus kQuota{8};

// Records only the planner's steps.
class Recording final : public QueueJournal {
 public:
  void Wrote(const QueueStep& step) override { text_ += wire::WriteQueueLine(step) + "\n"; }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = "{\"recording\":\"test\"}\n";
};

// A queue of 8 GPUs, its jobs, and a controller that may see outdated objects and whose writes may
// fail.
class Cluster {
 public:
  Cluster(uint64_t seed, const std::string& policy) : random_(seed), kueue_(KueueDelays()) {
    kueue_.AddQueue({.name = kQueue,
                     .local_queue = "team/q",
                     .quotas = {{"gpus", kQuota}},
                     .admits = [this](const Workload& workload) {
                       return now_ >= jobs_.at(workload.uid).admissible;
                     }});
    policy_.uid = policy_.name = "policy";
    policy_.cluster_queues = {kQueue};
    policy_.settings.policy = policy;
    policy_.settings.round = policy_.settings.least_run = seconds(30);
    policy_.settings.restart_cost = seconds(5);
    kueue_.Put(policy_);
    planner_.SetJournal(recording_);
    planner_.StartOver();
  }

  void AddJob() {
    Workload workload;
    workload.uid = workload.name = "w" + std::to_string(jobs_.size());
    workload.workload_namespace = "team";
    workload.local_queue = "q";
    workload.pods = 1;
    workload.gpus = Gpus(static_cast<int64_t>(1 + random_.Below(4)));
    workload.priority = random_.Below(4) == 0 ? 100 : 0;
    workload.may_lose_turn = random_.Below(4) != 0;
    const bool is_refused = random_.Below(8) == 0;
    const bool is_late = !is_refused && random_.Below(8) == 0;
    jobs_.emplace(workload.uid,
                  Job{.own = workload.priority,
                      .left = seconds(10 + random_.Below(120)),
                      .is_silent = random_.Below(4) == 0,
                      .is_refused = is_refused,
                      .admissible = is_late ? now_ + seconds(random_.Below(600)) : Instant()});
    kueue_.Create(workload, Now());
  }

  // Advances by a second: Kueue acts if it is due, then the controller decides.
  void Tick() {
    const Instant end = now_ + seconds(1);
    while (NextEvent() <= end) {
      now_ = NextEvent();
      for (const KueueAction& action : kueue_.Run(Now())) Do(action);
      FinishJobs();
      ASSERT_LE(kueue_.Used(kQueue), kQuota);
    }
    now_ = end;
    Control();
    for (const auto& [uid, job] : jobs_) CheckPriority(uid, job);
  }

  void EndPolicy() { kueue_.Remove(policy_); }
  void StopFailing() { fails_ = false; }
  const Recording& recording() const { return recording_; }
  uint64_t plans() const { return plans_; }
  bool AllFinished() const { return kueue_.size() == 0; }
  std::string Unfinished() const {
    std::string text;
    for (const auto& [key, workload] : kueue_.Objects().workloads)
      text += key + " at " + std::to_string(workload->priority) + "; ";
    return text;
  }
  void ExpectOwnPriorities() const {
    for (const auto& [key, workload] : kueue_.Objects().workloads) {
      EXPECT_EQ(workload->priority, jobs_.at(workload->uid).own) << key;
      EXPECT_FALSE(workload->note) << key;
    }
  }

 private:
  struct Job {
    int64_t own = 0;
    Duration left{};
    bool is_silent = false;
    bool is_refused = false;  // the API server refuses writes of its workload
    Instant admissible{};     // from then on, quotas other than that of GPUs admit it
    std::optional<Instant> since = std::nullopt;  // the time since which its pod runs
  };

  Moment Now() const {
    return {now_, WallTime(Duration(std::chrono::hours(500'000))) + now_.time_since_epoch()};
  }

  Instant NextEvent() const {
    Instant next = kueue_.wake();
    for (const auto& [uid, job] : jobs_) {
      if (job.since) next = std::min(next, *job.since + job.left);
    }
    return next;
  }

  void Do(const KueueAction& action) {
    Job& job = jobs_.at(action.name);
    if (action.kind == KueueAction::Kind::kStart) {
      job.since = now_;
      kueue_.PutPod({.uid = action.name + "-0",
                     .pod_namespace = "team",
                     .name = action.name + "-0",
                     .workload = action.name,
                     .has_gpus = true,
                     .has_node = true,
                     .node = "n",
                     .running = true,
                     .since = Now().wall});
      return;
    }
    if (job.since) job.left -= now_ - *job.since;
    job.since.reset();
    kueue_.RemovePod(action.name + "-0");
    kueue_.PodsGone(action.name, Now());
  }

  void FinishJobs() {
    for (auto& [uid, job] : jobs_) {
      if (!job.since || *job.since + job.left > now_) continue;
      job.since.reset();
      kueue_.RemovePod(uid + "-0");
      kueue_.Finish(uid, Now());
    }
  }

  void Control() {
    views_.push_back(kueue_.Objects());
    if (views_.size() > 1 + random_.Below(3)) views_.pop_front();
    if (random_.Below(50) == 0) planner_.StartOver();  // another leader takes over
    const QueuePlan plan = planner_.Plan(views_.front(), Now());
    ++plans_;
    QueueOutcome outcome;
    outcome.writes = WriteInOrder(plan, writer_);
    planner_.OnResult(plan, outcome);
  }

  class Writer final : public WorkloadWriter {
   public:
    explicit Writer(Cluster& cluster) : cluster_(cluster) {}
    bool IsUnseen(const WorkloadWrite& /*write*/) override { return false; }
    bool MayWrite() override { return true; }
    WriteOutcome Write(const WorkloadWrite& write) override {
      if (cluster_.fails_ && cluster_.random_.Below(10) == 0) return WriteOutcome::kFailed;
      if (cluster_.fails_ && cluster_.jobs_.at(write.workload->uid).is_refused)
        return WriteOutcome::kRefused;
      return cluster_.kueue_.Write(write, cluster_.Now());
    }

   private:
    Cluster& cluster_;
  };

  // Most jobs report their remaining time.
  std::optional<PodProgress> ProgressOfPod(const std::string& uid) const {
    const auto job = jobs_.find(uid.substr(0, uid.find('-')));
    if (job == jobs_.end() || !job->second.since || job->second.is_silent) return std::nullopt;
    PodProgress progress;
    const Duration ran = now_ - *job->second.since;
    progress.remaining = std::max(job->second.left - ran, Duration::zero());
    progress.iteration = ran / seconds(1);
    progress.iterations = Seconds(ran).count();
    progress.rate = 1;
    return progress;
  }

  // A priority differs from the job's own only by a band, and the note restores it.
  void CheckPriority(const std::string& uid, const Job& job) {
    const auto workload = kueue_.Find(uid);
    if (workload == nullptr) return;
    EXPECT_GE(workload->priority, job.own - 1) << uid;
    EXPECT_LE(workload->priority, job.own + 2) << uid;
    EXPECT_EQ(workload->OwnPriority(), job.own) << uid;
  }

  Random random_;
  Instant now_{std::chrono::hours(1)};
  KueueModel kueue_;
  RoundPolicy policy_;
  std::deque<QueueObjects> views_;  // as the watches have reported them, oldest first
  std::map<std::string, Job> jobs_;
  bool fails_ = true;
  uint64_t plans_ = 0;
  Recording recording_;
  NoTypeChooser types_;
  QueuePlanner planner_{[this](const std::string& uid) { return ProgressOfPod(uid); },
                        [](const std::string&, const std::string&) { return false; },
                        [](const Workload&, Gpus) { return int64_t{0}; }, types_};
  Writer writer_{*this};
};

TEST(QueuePlannerProperty, EveryJobEndsUnderEveryPolicy) {
  for (const PolicyName& policy : PolicyNames()) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      Cluster cluster(seed, std::string(policy.name));
      for (int tick = 0; tick < 3000 && !(tick > 200 && cluster.AllFinished()); ++tick) {
        if (tick < 200 && tick % 10 == 0) cluster.AddJob();
        cluster.Tick();
      }
      ASSERT_TRUE(cluster.AllFinished())
          << policy.name << ", seed " << seed << ": " << cluster.Unfinished();
    }
  }
}

TEST(QueuePlannerProperty, WithoutAPolicyEveryPriorityIsItsOwn) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Cluster cluster(seed, "las");
    for (int tick = 0; tick < 100; ++tick) {
      if (tick % 5 == 0) cluster.AddJob();
      cluster.Tick();
    }
    cluster.EndPolicy();
    cluster.StopFailing();
    // Refused writes rest for a while.
    for (int tick = 0; tick < 300; ++tick) cluster.Tick();
    cluster.ExpectOwnPriorities();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(QueuePlannerProperty, ARecordedRunIsPlannedTheSameAgain) {
  for (const PolicyName& policy : PolicyNames()) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      Cluster cluster(seed, std::string(policy.name));
      for (int tick = 0; tick < 200; ++tick) {
        if (tick % 10 == 0) cluster.AddJob();
        cluster.Tick();
      }
      const auto report = record::Replay(cluster.recording().text());
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_EQ(report->counts.at("QueuesPlanned").same, cluster.plans());
      for (const record::Difference& each : report->differences) {
        ADD_FAILURE() << policy.name << ", seed " << seed << ", line " << each.line << ":\n"
                      << each.recorded << "\n"
                      << each.replayed;
      }
    }
  }
}

TEST(QueuePlannerProperty, WithoutAStepARecordedRunIsPlannedDifferently) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Cluster cluster(seed, "las");
    for (int tick = 0; tick < 100; ++tick) {
      if (tick % 5 == 0) cluster.AddJob();
      cluster.Tick();
    }
    std::string text = cluster.recording().text();
    const size_t begin = text.rfind('\n', text.find("\"workloads\":{\"put\"")) + 1;
    text.erase(begin, text.find('\n', begin) + 1 - begin);
    const auto report = record::Replay(text);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_GT(report->counts.at("QueuesPlanned").different, 0U) << "seed " << seed;
  }
}

TEST(QueuePlannerProperty, StepsWithoutChangesAreRecordedShortly) {
  Cluster cluster(1, "fifo");
  for (int tick = 0; tick < 3000 && !(tick > 20 && cluster.AllFinished()); ++tick) {
    if (tick < 20) cluster.AddJob();
    cluster.Tick();
  }
  ASSERT_TRUE(cluster.AllFinished());
  // The planner sees the last objects some seconds late.
  for (int tick = 0; tick < 5; ++tick) cluster.Tick();
  const size_t before = cluster.recording().text().size();
  for (int tick = 0; tick < 100; ++tick) cluster.Tick();
  EXPECT_LT(cluster.recording().text().size() - before, 100 * 200U);
}

}  // namespace
}  // namespace synergy::testing
