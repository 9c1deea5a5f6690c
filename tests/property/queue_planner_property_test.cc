// The queue planner against a model of Kueue that admits and preempts by priority alone: for any
// jobs, and any writes that fail, are late or meet a changed object, every job ends, and no
// priority stays changed after the last policy stops ordering the queue.

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "core/random.h"
#include "profile/profile_object.h"
#include "queues/planner/queue_planner.h"

namespace synergy::testing {
namespace {

using std::chrono::seconds;

constexpr char kQueue[] = "train";

class NoProfiles final : public ProfileIndex {
 public:
  std::shared_ptr<const KnownProfile> Find(const std::string&, const std::string&) const override {
    return nullptr;
  }
  std::vector<std::shared_ptr<const KnownProfile>> All() const override { return {}; }
  uint64_t version() const override { return 0; }
};

// One queue of 8 GPUs. A tick is a second: Kueue acts, then the controller.
class Model {
 public:
  Model(uint64_t seed, const std::string& policy) : random_(seed) {
    objects_.flavors.Upsert({.name = "gpus"});
    ClusterQueue queue;
    queue.name = kQueue;
    queue.quota = kQuota;
    queue.flavors = {"gpus"};
    queue.preemption = "LowerPriority";
    objects_.cluster_queues.Upsert(queue);
    objects_.local_queues.Upsert({.queue_namespace = "team", .name = "q", .cluster_queue = kQueue});
    policy_.uid = policy_.name = "policy";
    policy_.cluster_queues = {kQueue};
    policy_.settings.policy = policy;
    policy_.settings.round = policy_.settings.least_run = seconds(30);
    policy_.settings.restart_cost = seconds(5);
    objects_.policies.Upsert(policy_);
    planner_.StartOver();
  }

  void AddJob() {
    Workload workload;
    workload.uid = workload.name = "w" + std::to_string(jobs_.size());
    workload.workload_namespace = "team";
    workload.local_queue = "q";
    workload.resource_version = "0";
    workload.pods = 1;
    workload.gpus = Gpus(static_cast<int64_t>(1 + random_.Below(4)));
    workload.priority = random_.Below(4) == 0 ? 100 : 0;
    workload.may_lose_turn = random_.Below(4) != 0;
    workload.created = now_;
    jobs_.emplace(workload.uid, Job{.own = workload.priority,
                                    .left = static_cast<double>(10 + random_.Below(120)),
                                    .running = false});
    objects_.workloads.Upsert(workload);
  }

  void Tick() {
    now_ += seconds(1);
    ActAsKueue();
    views_.push_back(objects_);
    if (views_.size() > 1 + random_.Below(3)) views_.pop_front();
    if (random_.Below(50) == 0) planner_.StartOver();  // another replica leads
    const QueueObjects view = views_.front();
    const QueuePlan plan = planner_.Plan(view, {Instant(now_.time_since_epoch()), now_});
    QueueOutcome outcome;
    outcome.writes.resize(plan.writes.size());
    for (size_t index = 0; index < plan.writes.size(); ++index)
      outcome.writes[index] = Write(plan.writes[index]);
    planner_.OnResult(plan, outcome);
    for (const auto& [uid, job] : jobs_) CheckPriority(uid, job);
  }

  void EndPolicy() { objects_.policies.Remove(policy_); }
  void StopFailing() { fails_ = false; }
  bool AllFinished() const {
    return std::all_of(objects_.workloads.begin(), objects_.workloads.end(),
                       [](const auto& entry) { return entry.second->finished; });
  }
  std::string Unfinished() const {
    std::string text;
    for (const auto& [key, workload] : objects_.workloads) {
      if (!workload->finished) text += key + " at " + std::to_string(workload->priority) + "; ";
    }
    return text;
  }
  void ExpectOwnPriorities() const {
    for (const auto& [key, workload] : objects_.workloads) {
      if (workload->finished) continue;
      EXPECT_EQ(workload->priority, jobs_.at(workload->uid).own) << key;
      EXPECT_FALSE(workload->note) << key;
    }
  }

 private:
  static constexpr Gpus kQuota{8};

  struct Job {
    int64_t own = 0;
    double left = 0;  // seconds
    bool running = false;
  };

  void Put(Workload workload) {
    workload.resource_version = std::to_string(++version_);
    objects_.workloads.Upsert(std::move(workload));
  }
  std::vector<Workload> Workloads() const {
    std::vector<Workload> all;
    for (const auto& [key, workload] : objects_.workloads) {
      if (!workload->finished) all.push_back(*workload);
    }
    return all;
  }
  void SetQuota(Workload workload, bool has_quota) {
    workload.has_quota = has_quota;
    workload.evicted = false;
    workload.quota_since = now_;
    jobs_.at(workload.uid).running = false;
    objects_.pods.Remove({.uid = workload.uid + "-0"});
    Put(std::move(workload));
  }

  void ActAsKueue() {
    Gpus free = kQuota;
    for (Workload& workload : Workloads()) {
      if (!workload.has_quota) continue;
      Job& job = jobs_.at(workload.uid);
      if (workload.evicted) {
        SetQuota(workload, false);
        continue;
      }
      if (job.running && (job.left -= 1) <= 0) {
        workload.finished = true;
        objects_.pods.Remove({.uid = workload.uid + "-0"});
        Put(workload);
        continue;
      }
      free -= workload.gpus;
      if (!job.running) Start(workload);
    }
    std::vector<Workload> waiting = Workloads();
    std::erase_if(waiting, [](const Workload& workload) { return workload.has_quota; });
    std::sort(waiting.begin(), waiting.end(), [](const Workload& a, const Workload& b) {
      return std::tuple(-a.priority, a.created, a.name) <
             std::tuple(-b.priority, b.created, b.name);
    });
    for (const Workload& workload : waiting) {
      if (workload.gpus <= free) {
        free -= workload.gpus;
        SetQuota(workload, true);
      } else if (Preempt(workload, free)) {
        return;
      }
    }
  }
  void Start(const Workload& workload) {
    jobs_.at(workload.uid).running = true;
    objects_.pods.Upsert({.uid = workload.uid + "-0",
                          .pod_namespace = "team",
                          .name = workload.name + "-0",
                          .workload = workload.name,
                          .has_gpus = true,
                          .has_node = true,
                          .node = "n",
                          .running = true,
                          .since = now_});
  }
  // Evicts the workloads of the lowest priorities that make room, if there are such. Returns
  // whether it did.
  bool Preempt(const Workload& workload, Gpus free) {
    std::vector<Workload> victims = Workloads();
    std::erase_if(victims, [&](const Workload& other) {
      return !other.has_quota || other.priority >= workload.priority;
    });
    std::sort(victims.begin(), victims.end(), [](const Workload& a, const Workload& b) {
      return std::tuple(a.priority, b.quota_since, a.name) <
             std::tuple(b.priority, a.quota_since, b.name);
    });
    size_t count = 0;
    for (; count < victims.size() && free < workload.gpus; ++count) free += victims[count].gpus;
    if (free < workload.gpus) return false;
    for (size_t index = 0; index < count; ++index) {
      Workload& victim = victims[index];
      if (victim.evicted) continue;
      victim.evicted = true;
      Put(std::move(victim));
    }
    return true;
  }

  WriteOutcome Write(const WorkloadWrite& write) {
    if (fails_ && random_.Below(10) == 0) return WriteOutcome::kFailed;
    const auto present = objects_.workloads.Find(write.workload->Key());
    if (present->resource_version != write.workload->resource_version)
      return WriteOutcome::kOutdated;
    Workload changed = *present;
    changed.priority = write.priority;
    changed.note = write.note;
    Put(std::move(changed));
    return WriteOutcome::kWritten;
  }

  // A priority differs from its own by no more than the bands, and the note restores it.
  void CheckPriority(const std::string& uid, const Job& job) {
    const auto workload = objects_.workloads.Find("team/" + uid);
    EXPECT_GE(workload->priority, job.own - 1) << uid;
    EXPECT_LE(workload->priority, job.own + 2) << uid;
    EXPECT_EQ(workload->OwnPriority(), job.own) << uid;
  }

  Random random_;
  WallTime now_{Duration(std::chrono::hours(500'000))};
  QueueObjects objects_;
  RoundPolicy policy_;
  std::deque<QueueObjects> views_;  // that the watches have reported, oldest first
  std::map<std::string, Job> jobs_;
  uint64_t version_ = 0;
  bool fails_ = true;
  ClusterState state_;
  NoProfiles profiles_;
  GpuTypeSpeeds speeds_{state_, profiles_, [](Gpus, const std::string&) { return std::nullopt; }};
  QueuePlanner planner_{[](const std::string&) { return std::nullopt; },
                        [](const std::string&, const std::string&) { return false; }, speeds_};
};

TEST(QueuePlannerProperty, EveryJobEndsUnderEveryPolicy) {
  for (const PolicyName& policy : PolicyNames()) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      Model model(seed, std::string(policy.name));
      for (int tick = 0; tick < 3000 && !(tick > 200 && model.AllFinished()); ++tick) {
        if (tick < 200 && tick % 10 == 0) model.AddJob();
        model.Tick();
      }
      ASSERT_TRUE(model.AllFinished())
          << policy.name << ", seed " << seed << ": " << model.Unfinished();
    }
  }
}

TEST(QueuePlannerProperty, WithoutAPolicyEveryPriorityIsItsOwn) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Model model(seed, "las");
    for (int tick = 0; tick < 100; ++tick) {
      if (tick % 5 == 0) model.AddJob();
      model.Tick();
    }
    model.EndPolicy();
    model.StopFailing();
    for (int tick = 0; tick < 30; ++tick) model.Tick();
    model.ExpectOwnPriorities();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace synergy::testing
