#pragma once

// Trainings of workloads without a profile, their agents' reports, and a profiler whose actions are
// carried out at once.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/profiler/profiler.h"
#include "engine_fixture.h"

namespace synergy::testing {

inline constexpr WallTime kAgentSince = WallTime{} + std::chrono::hours(1);

class FakeMeasuredCatalog final : public MeasuredCatalog {
 public:
  std::shared_ptr<const MeasuredProfile> Find(const std::string& profile_namespace,
                                              const std::string& name) const override {
    const auto found = profiles.find(profile_namespace + "/" + name);
    return found == profiles.end() ? nullptr
                                   : std::make_shared<const MeasuredProfile>(found->second);
  }
  std::shared_ptr<const MeasuredProfile> FindHint(const std::string& profile_namespace,
                                                  const std::string& identity, Gpus gpus,
                                                  const std::string& gpu_product,
                                                  int32_t gang_size) const override {
    const MeasuredProfile* best = nullptr;
    for (const auto& [key, each] : profiles) {
      const bool fits = key.starts_with(profile_namespace + "/") && MayHint(each) &&
                        each.gpus == gpus && each.gpu_product == gpu_product &&
                        each.gang_size == gang_size &&
                        (each.alike.arguments == identity || each.alike.owner == identity);
      if (fits && (best == nullptr || IsBetterHint(each, *best))) best = &each;
    }
    return best == nullptr ? nullptr : std::make_shared<const MeasuredProfile>(*best);
  }
  void Keep(const std::string& profile_namespace, const MeasuredProfile& measured) {
    MeasuredProfile& known = profiles[profile_namespace + "/" + MeasuredName(measured)];
    const std::optional<MemoryRaise> raise = known.raise;
    known = measured;
    known.raise = raise;  // has another writer
  }

  std::map<std::string, MeasuredProfile> profiles;
};

// A training as its agent reports it. It is as fast as its CPU allows, up to `best`.
struct Training {
  double best = 10;
  double cost = 0.5;  // CPU seconds per iteration
  double spare = 0;   // additional iterations per second under a probe, which need no CPU
  bool wiped = false;
  bool kept = true;  // whether the agent carries out probes
  bool logs = true;
  bool busy = false;                          // whether the agent reports how busy its GPU is
  bool spins = false;                         // whether the GPU's user waits busily
  std::optional<double> rate = std::nullopt;  // rate that the agent reports
  double reads = 0;                           // bytes per iteration; cached if not `cold`
  bool cold = false;                          // the training waits for storage

  double iterations = 100;
  double busy_seconds = 5;
  Duration starved{};
  std::optional<WallTime> checkpoint = std::nullopt;
  CpuUse cpu{
      .used = std::chrono::seconds(100), .throttled = Duration::zero(), .waited = Duration::zero()};
  std::optional<ProbeReading> probe = std::nullopt;
};

class ProfilerTest : public EngineTest {
 protected:
  // Returns a pod with one GPU and its fair share of 3 cores.
  static Pod Unprofiled(const std::string& name, const std::string& node,
                        const std::string& workload = "w-1") {
    return With(ManagedPod(name, node, 3), [&](ManagedContainer& fungible) {
      fungible.profile.clear();
      fungible.profile_generation = 0;
      fungible.workload = workload;
    });
  }

  void Begin(const Pod& pod, Training training = {}) {
    state.UpsertPod(pod);
    trainings[pod.uid] = training;
  }

  // Applies the action, as the API server accepts it.
  void Carry(const ProfilerAction& action) {
    if (action.kind == ProfilerActionKind::kPublish) {
      if (takes_profiles) catalog.Keep(action.profile_namespace, action.measured);
      profiler->OnResult(memory, action, takes_profiles, at);
      return;
    }
    const bool begins = action.kind == ProfilerActionKind::kProbe;
    if (!begins || takes_probes) {
      Put(action.pod->uid, [&](ManagedContainer& fungible) {
        fungible.probe = begins ? std::optional(action.probe) : std::nullopt;
      });
      Training& training = trainings[action.pod->uid];
      training.probe.reset();
      if (begins && training.kept)
        training.probe = ProbeReading{action.probe.cpu, at.wall, training.wiped};
    }
    profiler->OnResult(memory, action, !begins || takes_probes, at);
  }

  void Put(const std::string& uid, const std::function<void(ManagedContainer&)>& change) {
    state.UpsertPod(With(*state.FindPod(uid), change));
  }

  std::vector<ProfilerAction> Plan() {
    profiler->ObserveWaiting(memory, state.WaitingPods());
    return profiler->Plan(*state.Snapshot(), memory, at).actions;
  }

  static double CoresOf(const Pod& pod, const Training& training) {
    const auto cores = [](MilliCpu cpu) { return static_cast<double>(cpu.count()) / 1000; };
    const double own = cores(pod.fungible->requested.cpu);
    if (!training.probe) return own;
    const double probed = cores(training.probe->cpu);
    return pod.fungible->cpu_limit ? probed : std::min(own, probed);
  }
  // Returns the iterations per second that the training's CPU allows.
  static double Able(const Pod& pod, const Training& training) {
    return CoresOf(pod, training) / training.cost + (training.probe ? training.spare : 0);
  }

  void Train(const std::string& uid, Training& training, double time) {
    const auto pod = state.FindPod(uid);
    const double able = Able(*pod, training);
    double rate = std::min(training.best, able);
    // A gang's pods wait for each other in each iteration.
    for (const auto& [other, beside] : trainings) {
      const auto member = state.FindPod(other);
      if (!pod->gang || !member || !member->gang || member->gang->name != pod->gang->name) continue;
      rate = std::min({rate, beside.best, Able(*member, beside)});
    }
    const double used = std::min(rate * training.cost, CoresOf(*pod, training));
    training.iterations += rate * time;
    training.busy_seconds += training.spins ? time : rate / training.best * time;
    training.cpu.used += std::chrono::duration_cast<Duration>(Seconds(used * time));
    if (training.cold)
      training.starved += std::chrono::duration_cast<Duration>(Seconds(0.9 * time));
    if (able >= training.best || able > rate) return;
    const Duration kept_back = std::chrono::duration_cast<Duration>(Seconds(0.5 * time));
    const bool by_quota = training.probe || pod->fungible->cpu_limit;
    (by_quota ? training.cpu.throttled : *training.cpu.waited) += kept_back;
  }

  // Lets time pass: every pod trains, is reported every two seconds, and decisions are carried out.
  void Run(Duration time) {
    for (const Instant end = at.now + time; at.now < end;) {
      at.now += std::chrono::seconds(2);
      at.wall += std::chrono::seconds(2);
      for (auto& [uid, training] : trainings) {
        if (!state.FindPod(uid)) continue;
        Train(uid, training, 2);
        PodProgress progress;
        progress.uid = uid;
        if (training.logs) progress.format = "tqdm";
        if (training.busy) progress.estimate = BusyEstimate{training.busy_seconds, {}, at.wall};
        progress.iterations = training.iterations;
        progress.last = at.wall;
        progress.cpu = training.cpu;
        progress.cpu->at = at.wall;
        progress.rate = training.rate;
        progress.probe = training.probe;
        progress.checkpoint = training.checkpoint;
        if (training.reads > 0) {
          const double read = training.iterations * training.reads;
          progress.memory = MemoryUse{.process = GB(8),
                                      .cache = GB(2),
                                      .read = read,
                                      .starved = training.starved,
                                      .at = at.wall};
          progress.epoch = std::floor(read / 2e9);
        }
        profiler->Observe(memory, progress, agent_since, at);
      }
      for (const ProfilerAction& action : Plan()) {
        actions.push_back(action);
        Carry(action);
      }
    }
  }

  std::vector<ProfilerAction> Of(ProfilerActionKind kind) const {
    std::vector<ProfilerAction> found;
    std::copy_if(actions.begin(), actions.end(), std::back_inserter(found),
                 [kind](const ProfilerAction& action) { return action.kind == kind; });
    return found;
  }
  size_t Count(ProfilerActionKind kind) const { return Of(kind).size(); }
  std::vector<MeasuredProfile> Published() const {
    std::vector<MeasuredProfile> published;
    for (const ProfilerAction& action : Of(ProfilerActionKind::kPublish))
      published.push_back(action.measured);
    return published;
  }
  MeasuredProfile Last() const { return Of(ProfilerActionKind::kPublish).back().measured; }

  FakeMeasuredCatalog catalog;
  ProfilerSettings settings;
  std::unique_ptr<Profiler> profiler = std::make_unique<Profiler>(settings, catalog);
  ProfilerMemory memory;
  std::map<std::string, Training> trainings;
  std::vector<ProfilerAction> actions;
  WallTime agent_since = kAgentSince;
  bool takes_profiles = true;
  bool takes_probes = true;

  // Changes the settings.
  void Set(const std::function<void(ProfilerSettings&)>& change) {
    change(settings);
    profiler = std::make_unique<Profiler>(settings, catalog);
  }
};

}  // namespace synergy::testing
