// Pre-runs over generated histories of a cluster, with calls that are lost and controllers that are
// killed between two of them: no job has two trials, bounds hold, and only a job that waits, and
// whose trial failed by its template, is stopped.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/retries/prerun.h"

namespace synergy::testing {
namespace {

// The objects as the API server has them.
struct World {
  std::map<std::string, PrerunWorkload> workloads;  // by the job's UID
  std::map<std::string, PrerunTrial> trials;        // by name
  std::map<std::string, PrerunFailure> failures;    // by the trial's UID
  std::map<std::string, int> created;               // trials, by the job's UID
  std::set<std::string> prevented;                  // trials because of which a job was stopped
  int made = 0;

  PrerunState State() const {
    PrerunState state;
    for (const auto& [uid, workload] : workloads)
      state.workloads.push_back(std::make_shared<PrerunWorkload>(workload));
    for (const auto& [name, trial] : trials)
      state.trials.push_back(std::make_shared<PrerunTrial>(trial));
    state.failures = failures;
    return state;
  }
  void Create() {
    const std::string name = fmt::format("job-{}", ++made);
    PrerunWorkload workload{.uid = "w-" + name, .name = name};
    workload.its_namespace = *rc::gen::element<std::string>("a", "a", "b");
    workload.job = {"batch/v1", "Job", name, "uid-" + name};
    workload.created = WallTime(std::chrono::seconds(made));
    workloads.emplace(workload.job.uid, workload);
  }
  PrerunWorkload* AnyWorkload() {
    if (workloads.empty()) return nullptr;
    return &std::next(workloads.begin(),
                      *rc::gen::inRange<int>(0, static_cast<int>(workloads.size())))
                ->second;
  }
};

bool Happens() { return *rc::gen::inRange(0, 3) != 0; }

// Does something that users, Kueue or a trial can do meanwhile.
void Change(World& world) {
  switch (*rc::gen::inRange(0, 7)) {
    case 0:
    case 1:
      return world.Create();
    case 2:
      if (PrerunWorkload* const workload = world.AnyWorkload();
          workload != nullptr && workload->Waits())
        workload->has_quota = true;
      return;
    case 3:
      if (PrerunWorkload* const workload = world.AnyWorkload();
          workload != nullptr && workload->has_quota) {
        workload->has_quota = false;
        workload->had_quota = true;
        workload->finished = Happens();
      }
      return;
    case 4:
      if (PrerunWorkload* const workload = world.AnyWorkload(); workload != nullptr)
        workload->active = true;
      return;
    case 5:
      if (PrerunWorkload* const workload = world.AnyWorkload(); workload != nullptr && !Happens()) {
        world.trials.erase("prerun-" + workload->job.uid);
        world.workloads.erase(workload->job.uid);
      }
      return;
    default:
      for (auto& [name, trial] : world.trials) {
        if (trial.finished || Happens()) continue;
        trial.finished = true;
        const Category category =
            *rc::gen::element(Category::kImport, Category::kGpuOom, Category::kUnknown);
        if (Happens()) world.failures[trial.uid] = {category, EntryOf(category).outcome};
      }
  }
}

void Begin(World& world, const PrerunWorkload& job) {
  const std::string name = "prerun-" + job.job.uid;
  if (world.trials.contains(name)) return;  // a conflict
  RC_ASSERT(++world.created[job.job.uid] == 1);
  RC_ASSERT(job.Waits());
  RC_ASSERT(!job.had_quota);
  world.trials[name] = {.uid = fmt::format("trial-{}", ++world.made),
                        .its_namespace = job.its_namespace,
                        .name = name,
                        .job_uid = job.job.uid};
}

// Carries out a part of the plan.
void CarryOut(const PrerunPlan& plan, World& world) {
  for (const auto& trial : plan.end) {
    if (!Happens()) continue;
    const PrerunWorkload& job = world.workloads.at(trial->job_uid);
    RC_ASSERT(job.has_quota || job.finished);
    world.trials.erase(trial->name);
  }
  for (const auto& [workload, trial] : plan.note) {
    if (Happens()) world.workloads.at(workload->job.uid).trial = trial->uid;
  }
  for (const auto& [workload, trial] : plan.stop) {
    if (!Happens()) continue;
    PrerunWorkload& job = world.workloads.at(workload->job.uid);
    RC_ASSERT(job.Waits());
    RC_ASSERT(world.failures.at(trial->uid).category == Category::kImport);
    RC_ASSERT(world.prevented.insert(trial->uid).second);
    job.active = false;
    job.stopped = trial->uid;
  }
  for (const auto& workload : plan.begin) {
    if (Happens()) Begin(world, *workload);
  }
}

RC_GTEST_PROP(PrerunPropertyTest, NoJobHasTwoTrialsAndOnlyItsTemplatesFailuresStopIt, ()) {
  const PrerunLimits limits{.in_namespace = 2, .in_all = 3};
  World world;
  const int steps = *rc::gen::inRange(1, 60);
  for (int i = 0; i < steps; ++i) {
    Change(world);
    CarryOut(PlanPreruns(
                 world.State(), [](const PrerunWorkload&) { return Happens(); }, limits,
                 WallTime(std::chrono::hours(1))),
             world);
    std::map<std::string, size_t> running;
    size_t all = 0;
    for (const auto& [name, trial] : world.trials) {
      if (trial.finished) continue;
      ++running[trial.its_namespace];
      ++all;
    }
    RC_ASSERT(all <= limits.in_all);
    for (const auto& [name, count] : running) RC_ASSERT(count <= limits.in_namespace);
  }
}

}  // namespace
}  // namespace synergy::testing
