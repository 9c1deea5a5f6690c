// Measures how long the tuner takes for a large cluster: scripts/bench.sh tuner.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/rounds/results.h"
#include "bench/tuner/cluster.h"
#include "cluster/annotations.h"
#include "controller/tuner/action_executor.h"
#include "controller/tuner/tuner_calls.h"
#include "controller/tuner/tuner_driver.h"
#include "controller/tuner/tuner_unit.h"
#include "support/fake_clock.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"

namespace synergy::bench {
namespace {

using controller::ActionExecutor;
using controller::ExecutorSettings;
using controller::kTuningLook;
using controller::LeaderLoop;
using controller::TunerCalls;
using controller::TunerDriver;
using controller::TuningTask;
using controller::Waker;

double Milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// REQUIRES: `what` is "VmRSS" or "VmHWM".
double MebibytesOf(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(what + ":")) return std::stod(line.substr(what.size() + 1)) / 1024;
  }
  return 0;
}

// Records the times of requests.
class TimedApi final : public kube::PodApi {
 public:
  explicit TimedApi(kube::PodApi& api) : api_(api) {}

  Result<Pod> Get(const std::string& pod_namespace, const std::string& name,
                  std::stop_token stop) override {
    return api_.Get(pod_namespace, name, std::move(stop));
  }
  Result<> Bind(const kube::PodIdentity& pod, const std::string& node,
                const kube::AnnotationChanges& annotations, uint64_t unchanged_since,
                std::stop_token stop) override {
    return api_.Bind(pod, node, annotations, unchanged_since, std::move(stop));
  }
  Result<Pod> Resize(const Pod& pod, const ResourceVector& amounts, kube::Precondition precondition,
                     kube::Resized resized, std::stop_token stop) override {
    {
      const std::lock_guard lock(mutex_);
      patches_.push_back(SystemClock().Now());
      resized_[pod.name] = patches_.back();
      ++resizes_;
    }
    return api_.Resize(pod, amounts, precondition, resized, std::move(stop));
  }
  Result<Pod> Annotate(const Pod& pod, const kube::AnnotationChanges& changes,
                       kube::Precondition precondition, std::stop_token stop) override {
    {
      const std::lock_guard lock(mutex_);
      patches_.push_back(SystemClock().Now());
      for (const auto& [key, value] : changes) {
        if (key != annotations::kChange || !value) continue;
        const size_t name_at = value->find("room for team/");
        if (name_at == std::string::npos) continue;
        const size_t begin = name_at + std::string("room for team/").size();
        cut_for_.try_emplace(value->substr(begin, value->find('"', begin) - begin),
                             resized_[pod.name]);
      }
    }
    changed_.notify_all();
    return api_.Annotate(pod, changes, precondition, std::move(stop));
  }

  // Blocks until a peer is cut for that waiting pod; returns when that was.
  Instant AwaitCutFor(const std::string& name) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return cut_for_.contains(name); });
    return cut_for_.contains(name) ? cut_for_[name] : Instant::max();
  }
  size_t resizes() const {
    const std::lock_guard lock(mutex_);
    return resizes_;
  }
  std::vector<Instant> patches() const {
    const std::lock_guard lock(mutex_);
    return patches_;
  }

 private:
  kube::PodApi& api_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Instant> patches_;
  std::map<std::string, Instant> resized_;
  std::map<std::string, Instant> cut_for_;
  size_t resizes_ = 0;
};

// Returns the CPU time of this thread, which does not depend on other load on the machine.
Duration CpuTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Figures of decisions, without carrying them out, until there is nothing more to do at this
// moment.
struct Pass {
  Duration observing{};
  Duration deciding{};
  Duration longest{};  // the longest decision
  size_t decisions = 0;
  size_t actions = 0;
};
Pass DecideAll(const Tuner& tuner, ClusterState& state, TunerMemory& memory, Moment at) {
  Pass pass;
  while (true) {
    const Duration begin = CpuTime();
    const ClusterNews news = state.TakeNews();
    for (const PodNews& pod : news.pods) tuner.Observe(memory, pod, at);
    const Duration observed = CpuTime();
    const TunerPlan plan = tuner.Plan(*news.snapshot, memory, at);
    const Duration took = CpuTime() - observed;
    pass.observing += observed - begin;
    pass.deciding += took;
    pass.longest = std::max(pass.longest, took);
    ++pass.decisions;
    pass.actions += plan.actions.size();
    for (const TunerAction& action : plan.actions) tuner.OnResult(memory, action, false, at);
    if (plan.wake > at.now) return pass;
  }
}

void Print(const char* name, const Pass& pass) {
  fmt::print("{:<44}{:>9.1f}{:>9.1f}{:>9.1f}{:>9}{:>9}\n", name, Milliseconds(pass.observing),
             Milliseconds(pass.deciding), Milliseconds(pass.longest), pass.decisions, pass.actions);
}

struct Options {
  ClusterSize size;
  ExecutorSettings executor;
  size_t changes = 1000;
  size_t arrivals = 20;
  std::string part = "all";
  std::string json;
};

// Measures only decisions, on a cluster where no gain is left.
void MeasurePasses(const Options& options, Results& results) {
  testing::FakeClock clock;
  testing::SilentLog log;
  metrics::TunerMetrics metrics;
  ClusterState state;
  HeldProfiles profiles;
  profiles.Hold(MakeProfiles(), 1);
  BenchCluster cluster(state, options.size);
  testing::RecordedEvents events;
  Tuner tuner({}, profiles);
  {
    TunerCalls actions(state, cluster.api(), events, clock, log.log, metrics, [] { return true; });
    const auto executor = MakeSerialExecutor(actions, [] { return true; }, clock);
    TunerDriver driver(tuner, state, *executor, clock, metrics);
    driver.StartOver();
    const Instant begin = SystemClock().Now();
    int quiet = 0;
    int rounds = 0;
    for (; quiet < 3 && rounds < 60; ++rounds) {
      bool changed = false;
      for (int second = 0; second < 6; ++second) {
        driver.Step();
        changed |= cluster.Settle();
        clock.Advance(std::chrono::seconds(1));
      }
      clock.Advance(std::chrono::minutes(5));
      quiet = changed ? 0 : quiet + 1;
    }
    fmt::print("settled after {} rounds, {:.0f} ms\n\n", rounds,
               Milliseconds(SystemClock().Now() - begin));
    driver.Rest();
  }
  fmt::print("{:<44}{:>9}{:>9}{:>9}{:>9}{:>9}\n", "CPU ms", "observing", "deciding", "longest",
             "decisions", "actions");
  Moment at = clock.Present();
  TunerMemory memory = Tuner::StartOver(at);
  state.KeepNews();
  const Pass full = DecideAll(tuner, state, memory, at);
  Print("all nodes (a new leader)", full);

  const auto later = [&at] {
    at.now += std::chrono::minutes(5);
    at.wall += std::chrono::minutes(5);
  };
  later();
  const Pass unchanged = DecideAll(tuner, state, memory, at);
  Print("a round in which nothing has changed", unchanged);
  for (size_t n = 100; n < 200; ++n) {
    Pod pod = cluster.api().pod(fmt::format("pod-{:05}-3", n));
    ++pod.resource_version;
    state.UpsertPod(std::move(pod));
  }
  later();
  const Pass some = DecideAll(tuner, state, memory, at);
  Print("a round in which 100 nodes have changed", some);
  profiles.Hold(MakeProfiles(), 2);
  later();
  const Pass other_profiles = DecideAll(tuner, state, memory, at);
  Print("all nodes, as the profiles have changed", other_profiles);

  for (const auto& [name, pass] : {std::pair("new leader", full),
                                   {"unchanged", unchanged},
                                   {"100 changed", some},
                                   {"other profiles", other_profiles}}) {
    results.Figure(fmt::format("{} observing ms", name), Milliseconds(pass.observing));
    results.Figure(fmt::format("{} deciding ms", name), Milliseconds(pass.deciding));
  }
  results.Check({"a full pass decides: ms",
                 std::max(Milliseconds(full.deciding), Milliseconds(other_profiles.deciding)),
                 200});
}

// Measures the complete tuner in real time, with an API server that takes 5 ms per call and
// kubelets that take a second.
void MeasureWork(const Options& options, Results& results) {
  testing::SilentLog log;
  metrics::TunerMetrics metrics;
  ClusterState state;
  HeldProfiles profiles;
  profiles.Hold(MakeProfiles(), 1);
  BenchCluster cluster(state, options.size);
  TimedApi api(cluster.api());
  testing::RecordedEvents events;
  Tuner tuner({}, profiles);
  TunerCalls actions(state, api, events, SystemClock(), log.log, metrics, [] { return true; });
  Waker waker;
  auto executor = MakeActionExecutor(
      actions, [] { return true; }, [&waker] { waker.Wake(); }, SystemClock(), options.executor);
  TunerDriver driver(tuner, state, *executor, SystemClock(), metrics);
  LeaderLoop tuning(TuningTask(driver, [] { return true; }, SystemClock()), kTuningLook, waker);
  cluster.SetLatency(std::chrono::milliseconds(5));
  cluster.StartKubelets(std::chrono::seconds(1), [&waker] { waker.Wake(); });
  const double before = MebibytesOf("VmRSS");
  tuning.Start();
  std::vector<double> delays;
  const Instant begin = SystemClock().Now();
  for (size_t i = 0; i < options.arrivals; ++i) {
    SystemClock().SleepFor(std::chrono::milliseconds(i == 0 ? 5 : 700), {});
    const Pod pod = cluster.MakeWaitingPod(i);
    const Instant arrives = SystemClock().Now();
    cluster.Arrive(pod);
    delays.push_back(Milliseconds(api.AwaitCutFor(pod.name) - arrives));
  }
  while (api.resizes() < options.changes && SystemClock().Now() - begin < std::chrono::minutes(5)) {
    SystemClock().SleepFor(std::chrono::milliseconds(10), {});
  }
  const double after = MebibytesOf("VmRSS");
  const size_t resizes = api.resizes();
  tuning.Stop();
  executor.reset();
  cluster.StopKubelets();

  fmt::print("\nms, in order: {:.0f}\n", fmt::join(delays, " "));
  std::sort(delays.begin(), delays.end());
  const std::vector<Instant> patches = api.patches();
  const double seconds = Milliseconds(patches.back() - patches.front()) / 1000;
  const double rate = static_cast<double>(patches.size() - options.executor.at_once) / seconds;
  fmt::print(
      "\n{} pods that arrive meanwhile: their peer's cut is sent after {:.0f} ms (p50), "
      "{:.0f} ms (slowest)\n",
      delays.size(), delays[delays.size() / 2], delays.back());
  fmt::print(
      "{} changes in {:.1f} s: {:.1f} PATCHes a second, {} at most; {:.1f} MiB more than "
      "before\n",
      resizes, seconds, rate, options.executor.patches_per_second, after - before);
  results.Figure("cut sent p50 ms", delays[delays.size() / 2]);
  results.Figure("cut sent slowest ms", delays.back());
  results.Figure("changes", static_cast<double>(resizes));
  results.Figure("seconds", seconds);
  results.Figure("patches per second", rate);
  results.Figure("resident MiB, with the stub's pods", after);
  results.Figure("resident MiB more while at work", after - before);
  const auto limit = static_cast<double>(options.executor.patches_per_second);
  results.Check({"a pod that arrives meanwhile has its peer cut: ms", delays.back(), 300});
  results.Check(
      {"changes made", static_cast<double>(resizes), static_cast<double>(options.changes), true});
  results.Check({"PATCHes a second, of what is allowed", rate / limit, 0.9, true});
  results.Check({"PATCHes a second, of what is allowed", rate / limit, 1.01});
}

int Main(int argc, const char* const* argv) {
  Options options;
  CLI::App app("Measures how long the tuner takes for a large cluster");
  app.add_option("--nodes", options.size.nodes, "nodes, with 8 GPU pods each");
  app.add_option("--part", options.part, "what to measure")
      ->check(CLI::IsMember({"passes", "work", "all"}));
  app.add_option("--changes", options.changes, "changes to be made");
  app.add_option("--patches-per-second", options.executor.patches_per_second, "PATCHes, at most");
  app.add_option("--json", options.json, "write all figures to this file");
  CLI11_PARSE(app, argc, argv);
  Results results;
  if (options.part != "work") MeasurePasses(options, results);
  if (options.part != "passes") MeasureWork(options, results);
  return results.Report(options.json);
}

}  // namespace
}  // namespace synergy::bench

int main(int argc, char** argv) { return synergy::bench::Main(argc, argv); }
