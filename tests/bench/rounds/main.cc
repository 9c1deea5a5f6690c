// Measures the cost and the benefit of rounds and simulations: scripts/bench.sh objective | round |
// rounds | reservations | simulate | guard.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "allocation/best_fit.h"
#include "bench/rounds/gangs.h"
#include "bench/rounds/guard.h"
#include "bench/rounds/objective.h"
#include "bench/rounds/queue.h"
#include "bench/rounds/reservations.h"
#include "bench/rounds/results.h"
#include "cli/simulate/model_facts_file.h"
#include "cli/simulate/workloads.h"
#include "cluster/state/fit.h"
#include "core/random.h"
#include "research/baseline/mechanisms.h"
#include "research/baseline/round.h"
#include "research/lab/lab_options.h"
#include "research/lab/lab_runs.h"
#include "sim/workload.h"
#include "support/cluster_vocabulary.h"

namespace synergy {
namespace {

const Server kServer{{Gpus(8), Cores(24), GB(500)}};

double CpuMilliseconds() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Holds profiles of the models for one GPU, and those for several.
class Profiles {
 public:
  explicit Profiles(const ModelFacts& facts) {
    for (const auto& [key, fact] : facts.all()) {
      if (key.second != Gpus(1)) continue;
      const JobProfile one = *ProfileOf(fact);
      for (const int64_t gpus : {1, 2, 4, 8}) {
        profiles_.push_back(gpus == 1 ? one : *Scaled(one, Gpus(gpus)));
      }
    }
  }
  // Most jobs have one GPU.
  const JobProfile& Pick(Random& random) const {
    const size_t model = random.Below(profiles_.size() / 4);
    const uint64_t percent = random.Below(100);
    return profiles_[model * 4 + (percent < 70 ? 0 : percent < 80 ? 1 : percent < 95 ? 2 : 3)];
  }

 private:
  std::vector<JobProfile> profiles_;
};

std::vector<Job> RandomJobs(const Profiles& profiles, size_t count) {
  Random random(42);
  std::vector<Job> jobs(count);
  for (size_t at = 0; at < count; ++at) {
    Job& job = jobs[at];
    job.id = at;
    job.profile = &profiles.Pick(random);
    job.gpus = job.profile->gpus();
    job.demand = job.profile->Demand(0);
    job.arrival = Seconds(static_cast<double>(at));
    job.ideal = job.remaining = Seconds(1000 + static_cast<double>(random.Below(100'000)));
  }
  return jobs;
}

// Returns the CPU milliseconds of a round in which every job is new; the minimum of several rounds.
double RoundTime(const Profiles& profiles, size_t servers, size_t count, const char* name,
                 int repeats) {
  const std::vector<Server> cluster(servers, kServer);
  const std::vector<Job> jobs = RandomJobs(profiles, count);
  Mechanism mechanism = *MakeMechanism(name);
  double least = 1e300;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const double begin = CpuMilliseconds();
    const Plan plan = RunRound(cluster, jobs, Fifo(), *mechanism.allocator, Seconds(0));
    least = std::min(least, CpuMilliseconds() - begin);
    if (plan.shares.size() != count) std::abort();
  }
  return least;
}

int BenchRound(const ModelFacts& facts, const std::string& json) {
  const Profiles profiles(facts);
  bench::Results results;
  fmt::print("{:<18}{:>10}{:>12}{:>14}\n", "mechanism", "servers", "jobs", "CPU ms");
  for (const char* mechanism : {"tune", "synergy-rounds"}) {
    struct Size {
      int servers;
      int jobs;
      int repeats;
      double time = 1e300;
    };
    std::vector<Size> all = {{64, 2000, 40}, {625, 6250, 12}, {2500, 25000, 6}, {10000, 100000, 4}};
    // Measures all sizes in each pass, so that a short slowdown of the machine affects all of them.
    for (int pass = 0; pass < 10; ++pass) {
      for (Size& size : all) {
        size.time =
            std::min(size.time, RoundTime(profiles, static_cast<size_t>(size.servers),
                                          static_cast<size_t>(size.jobs), mechanism, size.repeats));
      }
    }
    std::vector<double> times;
    std::vector<double> sizes;
    for (const auto& [servers, jobs, repeats, time] : all) {
      fmt::print("{:<18}{:>10}{:>12}{:>14.3f}\n", mechanism, servers, jobs, time);
      results.Figure(fmt::format("{} {} servers {} jobs ms", mechanism, servers, jobs), time);
      if (servers > 64) {
        sizes.push_back(jobs);
        times.push_back(time);
      }
      if (servers == 64)
        results.Check({fmt::format("{}: 512 GPUs, 2000 jobs: ms", mechanism), time, 1});
      if (servers == 10000) {
        results.Check({fmt::format("{}: 80,000 GPUs, 100,000 jobs: ms", mechanism), time, 100});
      }
    }
    // Fits the logarithm of the time over that of the size by least squares, and compares the slope
    // with n log n.
    const auto slope = [&](auto time_of) {
      double mean_x = 0;
      double mean_y = 0;
      for (size_t at = 0; at < sizes.size(); ++at) {
        mean_x += std::log(sizes[at]) / static_cast<double>(sizes.size());
        mean_y += std::log(time_of(at)) / static_cast<double>(sizes.size());
      }
      double xy = 0;
      double xx = 0;
      for (size_t at = 0; at < sizes.size(); ++at) {
        const double x = std::log(sizes[at]) - mean_x;
        xy += x * (std::log(time_of(at)) - mean_y);
        xx += x * x;
      }
      return xy / xx;
    };
    const double exponent = slope([&](size_t at) { return times[at]; });
    const double n_log_n = slope([&](size_t at) { return sizes[at] * std::log2(sizes[at]); });
    results.Check({fmt::format("{}: exponent of growth, against that of n log n", mechanism),
                   exponent, n_log_n});
  }
  const double opt = RoundTime(profiles, 16, 400, "opt", 1);
  fmt::print("{:<18}{:>10}{:>12}{:>14.3f}\n", "opt", 16, 400, opt);
  results.Check({"opt: 128 GPUs: ms", opt, 1000});
  return results.Report(json);
}

long PeakKilobytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  long kilobytes = 0;
  while (status >> word) {
    if (word == "VmHWM:") status >> kilobytes;
  }
  return kilobytes;
}

cli::LabArguments ArgumentsOf(cli::LabKind kind, const std::string& profiles,
                              const std::string& mechanism) {
  cli::LabArguments arguments;
  arguments.kind = kind;
  arguments.profiles = profiles;
  arguments.mechanisms = {mechanism};
  return arguments;
}

Result<cli::RunResult> Run(const ModelFacts& facts, const cli::LabArguments& arguments) {
  const auto options = cli::CheckLabArguments(arguments);
  if (!options) return Fail(options.error());
  const auto workloads =
      cli::LoadWorkloads(arguments, facts, Gpus(arguments.servers * arguments.gpus));
  if (!workloads) return Fail(workloads.error());
  const auto runs = arguments.kind == cli::LabKind::kReference
                        ? cli::RunAllReference(arguments, *options, facts, *workloads)
                        : cli::RunAllInRounds(arguments, *options, facts, nullptr, *workloads,
                                              [](const cli::RunResult&, size_t, size_t) {});
  if (!runs) return Fail(runs.error());
  return runs->front();
}

int BenchSimulate(const ModelFacts& facts, const std::string& data, const std::string& profiles,
                  const std::string& json) {
  bench::Results results;
  const auto report = [&](const char* name, const Result<cli::RunResult>& run) {
    if (!run) {
      fmt::print(stderr, "{}: {}\n", name, run.error().message);
      std::exit(EXIT_FAILURE);
    }
    fmt::print("{:<44}{:>8} jobs{:>8} rounds{:>10.3f} s of CPU, mean completion {:.3f} h\n", name,
               run->jobs.size(), run->rounds, run->cpu_seconds,
               run->statistics.mean.count() / 3600);
    results.Figure(std::string(name) + " cpu seconds", run->cpu_seconds);
    return run->cpu_seconds;
  };
  auto reference = ArgumentsOf(cli::LabKind::kReference, profiles, "tune");
  reference.traces = {data + "/single_6925job.csv"};
  reference.window = "4000:5000";
  // The first run is a warm-up.
  double least = 1e300;
  for (int repeat = 0; repeat < 5; ++repeat) {
    least =
        std::min(least, report("the artifact check, synergy-lab reference", Run(facts, reference)));
  }
  results.Check({"the artifact check, synergy-lab reference: s", least, 0.1});
  const long before = PeakKilobytes();
  for (const char* mechanism : {"tune", "synergy-rounds"}) {
    auto philly = ArgumentsOf(cli::LabKind::kRounds, profiles, mechanism);
    philly.workloads = {"rate=53.48/h,gpus=philly,jobs=96260,seed=1"};
    philly.servers = 312;
    const std::string name = fmt::format("as large as Philly's trace, {}", mechanism);
    const double time = report(name.c_str(), Run(facts, philly));
    results.Check({name + ": s", time, 20});
  }
  results.Check({"memory per job: bytes",
                 1024.0 * static_cast<double>(PeakKilobytes() - before) / 96260, 1024});
  return results.Report(json);
}

// Fills 5000 nodes; each keeps at least two of eight GPUs free, and different amounts of CPU and
// memory.
void FillPartly(ClusterState& state) {
  using testing::MakeNode;
  using testing::MakePod;
  using testing::OnNode;
  Random random(42);
  for (int node = 0; node < 5000; ++node) {
    const std::string name = fmt::format("node-{:05}", node);
    state.UpsertNode(MakeNode(name, kServer.capacity));
    for (int pod = 0; pod < 3; ++pod) {
      const auto cores = static_cast<int64_t>(1 + random.Below(7));
      state.UpsertPod(OnNode(
          MakePod(fmt::format("{}-{}", name, pod),
                  {Gpus(static_cast<int64_t>(random.Below(3))), Cores(cores), GB(20 * cores)}),
          name));
    }
  }
}

void FilterAndRank(const ClusterState& state, const Pod& pod) {
  const auto snapshot = state.Snapshot();
  const BestFit best_fit(pod, *snapshot, {});
  FitRank best{.tier = FitTier::kShort, .cost = 1e300};
  for (NodeIndex index = 0; index < snapshot->size(); ++index) {
    const NodeState& node = snapshot->node(index);
    if (CheckFit(pod, node).none()) best = std::min(best, best_fit.Rank(node));
  }
  if (best.cost >= 1e300) std::abort();
}

int BenchGuard(const ModelFacts& facts, const std::string& profiles,
               const bench::GuardOptions& options) {
  const Profiles of_models(facts);
  const std::vector<Server> servers(64, kServer);
  const std::vector<Job> jobs = RandomJobs(of_models, 2000);
  const auto round = [&] {
    for (int repeat = 0; repeat < 10; ++repeat) {
      Mechanism mechanism = *MakeMechanism("synergy-rounds");
      RunRound(servers, jobs, Fifo(), *mechanism.allocator, Seconds(0));
    }
  };
  auto philly = ArgumentsOf(cli::LabKind::kRounds, profiles, "synergy");
  philly.workloads = {"rate=2.74/h,gpus=philly,jobs=3000,seed=1"};
  philly.servers = 16;
  const auto simulation = [&] {
    if (Run(facts, philly)) return;
    fmt::print(stderr, "the simulation failed\n");
    std::exit(EXIT_FAILURE);
  };
  ClusterState state;
  FillPartly(state);
  const Pod pod =
      testing::Demanding(testing::MakePod("waits", {Gpus(1), Cores(2), GB(40)}), Cores(4), GB(80));
  const auto placement = [&] {
    for (int repeat = 0; repeat < 50; ++repeat) FilterAndRank(state, pod);
  };
  ClusterState alone;
  ClusterState in_gangs;
  const std::vector<Pod> singles = bench::FillWithGangs(alone, 0);
  const std::vector<Pod> members = bench::FillWithGangs(in_gangs, 2000);
  const auto snapshots = [](ClusterState& of, const std::vector<Pod>& pods) {
    return [&of, &pods] {
      for (int repeat = 0; repeat < 10; ++repeat) bench::SnapshotEachChange(of, pods);
    };
  };
  const std::vector<bench::Subject> subjects = {
      {"10 rounds of 512 GPUs and 2000 jobs", round},
      {"a simulation of 3000 jobs", simulation},
      {"50 times filter and rank of 5000 nodes", placement},
      {"2000 snapshots after changes of pods", snapshots(alone, singles)},
      {"2000 snapshots after changes of gangs", snapshots(in_gangs, members)},
  };
  return bench::Guard(subjects, options);
}

}  // namespace
}  // namespace synergy

int main(int argc, char** argv) {
  CLI::App app("Measures the cost and the benefit of rounds and simulations");
  std::string what;
  std::string data;
  std::string json;
  app.add_option("what", what)
      ->required()
      ->check(CLI::IsMember({"objective", "round", "rounds", "reservations", "simulate", "guard"}));
  app.add_option("--data", data, "tests/data/synergy/reference")->required();
  app.add_option("--json", json);
  synergy::bench::GuardOptions guard;
  app.add_option("--stored", guard.stored, "guard: tests/bench/rounds/guard.json");
  app.add_option("--factor", guard.factor, "guard: how many times its stored figure each may be")
      ->check(CLI::Range(1.0, 100.0));
  app.add_flag("--update", guard.update, "guard: store the measured figures");
  CLI11_PARSE(app, argc, argv);
  const std::string profiles = data + "/profiles.json";
  const auto facts = synergy::cli::LoadModelFacts(profiles, synergy::kServer.capacity);
  if (!facts) {
    fmt::print(stderr, "{}\n", facts.error().message);
    return EXIT_FAILURE;
  }
  if (what == "objective") {
    synergy::bench::Results results;
    synergy::bench::BenchObjective(*facts, results);
    return results.Report(json);
  }
  if (what == "rounds") {
    synergy::bench::Results results;
    synergy::bench::BenchQueue(results);
    return results.Report(json);
  }
  if (what == "reservations") {
    synergy::bench::Results results;
    synergy::bench::BenchReservations(results);
    return results.Report(json);
  }
  if (what == "guard") {
    guard.json = json;
    return synergy::BenchGuard(*facts, profiles, guard);
  }
  return what == "round" ? synergy::BenchRound(*facts, json)
                         : synergy::BenchSimulate(*facts, data, profiles, json);
}
