#include "bench/rounds/objective.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/random.h"
#include "research/baseline/divider.h"
#include "research/baseline/mechanisms.h"
#include "sim/cluster/product_simulator.h"

namespace synergy::bench {
namespace {

constexpr int kMixes = 20;
constexpr size_t kServers = 16;
constexpr size_t kJobs = kServers * 8;
const Server kServer{{Gpus(8), Cores(24), GB(500)}};

// Longer than all of the product's reactions to a new pod.
constexpr Seconds kBetweenArrivals{1200};
// No job ends while others arrive.
constexpr Seconds kEndless{365.0 * 24 * 3600};

using Split = std::array<int, 3>;

std::map<std::string, JobProfile, std::less<>> ProfilesOf(const ModelFacts& facts) {
  std::map<std::string, JobProfile, std::less<>> profiles;
  for (const auto& [key, fact] : facts.all()) {
    if (key.second != Gpus(1)) continue;
    profiles.emplace(key.first, *ProfileOf(fact));
  }
  return profiles;
}

ModelProfiles ModelsOf(const std::map<std::string, JobProfile, std::less<>>& profiles) {
  ModelProfiles models;
  for (const auto& [model, profile] : profiles) {
    models.Set(model, std::make_shared<const JobProfile>(profile));
  }
  return models;
}

// Draws one-GPU jobs: each of a random class and model.
class Mix {
 public:
  Mix(const std::map<std::string, JobProfile, std::less<>>& profiles, const Split& split,
      uint64_t seed) {
    const std::array<std::vector<std::string_view>, 3> models = {
        {{"alexnet", "res18", "res50", "mobilenet", "shufflenet"},
         {"gnmt", "transformer", "lstm"},
         {"m5", "deepspeech"}}};
    Random random(seed);
    const ResourceVector fair = FairShareOf(kServer, Gpus(1));
    for (size_t at = 0; at < kJobs; ++at) {
      const int percent = static_cast<int>(random.Below(100));
      const size_t of_class = percent < split[0] ? 0 : percent < split[0] + split[1] ? 1 : 2;
      const auto& names = models.at(of_class);
      Job job;
      job.id = at;
      job.gpus = Gpus(1);
      const auto& [model, profile] = *profiles.find(names[random.Below(names.size())]);
      models_.push_back(model);
      job.profile = &profile;
      job.demand = job.profile->Demand(0);
      job.fair_throughput = job.profile->ThroughputAt(fair.cpu, fair.memory);
      job.arrival = Seconds(static_cast<double>(at));
      jobs_.push_back(job);
    }
  }

  // Returns an upper bound: the best result if all servers were one.
  double Bound() const {
    const ResourceVector all{Gpus(kJobs), kServer.capacity.cpu * kServers,
                             kServer.capacity.memory * kServers};
    std::vector<std::vector<DivisionChoice>> choices;
    for (const Job& job : jobs_) {
      choices.push_back(
          DivisionChoices(*job.profile, FairShareOf(kServer, Gpus(1)), all, Cores(1)));
    }
    const std::vector<std::span<const DivisionChoice>> spans(choices.begin(), choices.end());
    return Divide(spans, all.cpu, all.memory, 2000).bound;
  }

  double InOneRound(const std::string& name) const {
    Mechanism mechanism = *MakeMechanism(name);
    return Value(mechanism, jobs_, Allocate(mechanism, jobs_));
  }

  // Runs the product. Each job arrives when the product has finished its reactions to the last one,
  // and no job ends.
  double OneByOne(const ModelProfiles& models, Enforcement enforcement) const {
    std::vector<ProductJob> jobs;
    for (const Job& job : jobs_) {
      jobs.push_back({job.id, models_[job.id], job.gpus,
                      kBetweenArrivals * static_cast<double>(job.id), kEndless,
                      job.fair_throughput});
    }
    ProductOptions options;
    options.enforcement = enforcement;
    options.until = kBetweenArrivals * static_cast<double>(kJobs);
    const auto run = SimulateProduct(ClusterOf(kServers, kServer.capacity), jobs, models, options);
    if (!run) {
      fmt::print(stderr, "{}\n", run.error().message);
      std::exit(EXIT_FAILURE);
    }
    return std::accumulate(run->last_speeds.begin(), run->last_speeds.end(), 0.0);
  }

  // Runs the mechanism in rounds, one for each arrival. No job moves.
  double RoundByRound(const std::string& name) const {
    Mechanism mechanism = *MakeMechanism(name);
    std::vector<Job> there;
    Plan plan;
    for (const Job& job : jobs_) {
      there.push_back(job);
      plan = Allocate(mechanism, there);
      for (size_t at = 0; at < there.size(); ++at) there[at].holds = plan.shares[at];
    }
    return Value(mechanism, there, plan);
  }

 private:
  static Plan Allocate(Mechanism& mechanism, std::span<const Job> jobs) {
    std::vector<JobIndex> order(jobs.size());
    std::iota(order.begin(), order.end(), JobIndex{0});
    return mechanism.allocator->Allocate(Servers(), jobs, order);
  }
  static double Value(const Mechanism& mechanism, std::span<const Job> jobs, const Plan& plan) {
    const std::vector<double> speeds = Speeds(Servers(), jobs, plan, mechanism.enforcement);
    return std::accumulate(speeds.begin(), speeds.end(), 0.0);
  }
  static std::span<const Server> Servers() {
    static const std::vector<Server> servers(kServers, kServer);
    return servers;
  }

  std::vector<Job> jobs_;
  std::vector<std::string> models_;  // the jobs' models, by id
};

struct Share {
  double sum = 0;
  double worst = 1e300;

  void Add(double value) {
    sum += value / kMixes;
    worst = std::min(worst, value);
  }
};

}  // namespace

void BenchObjective(const ModelFacts& facts, Results& results) {
  const auto profiles = ProfilesOf(facts);
  const ModelProfiles models = ModelsOf(profiles);
  const std::vector<std::string> mechanisms = {
      "proportional", "burstable-spread",      "burstable-packed", "greedy", "tune",
      "opt",          "synergy-rounds-strict", "synergy-rounds"};
  const std::string strict = "one by one, strict";
  const std::string shared = "one by one, shared";
  const std::string in_rounds = "one by one, in rounds";
  auto columns = mechanisms;
  columns.insert(columns.end(), {in_rounds, strict, shared});
  fmt::print("mean of {} mixes (the worst), as parts of the bound\n{:<12}", kMixes, "split");
  for (const std::string& column : columns) fmt::print("{:>23}", column);
  fmt::print("\n");
  std::map<std::string, Share> means;  // split of the jobs -> means
  size_t splits = 0;
  for (const Split& split : {Split{20, 70, 10}, Split{30, 60, 10}, Split{40, 50, 10},
                             Split{50, 0, 50}, Split{100, 0, 0}}) {
    std::map<std::string, Share> shares;
    for (uint64_t seed = 1; seed <= kMixes; ++seed) {
      const Mix mix(profiles, split, seed);
      const double bound = mix.Bound();
      for (const std::string& mechanism : mechanisms) {
        shares[mechanism].Add(mix.InOneRound(mechanism) / bound);
      }
      shares[in_rounds].Add(mix.RoundByRound("synergy-rounds-strict") / bound);
      shares[strict].Add(mix.OneByOne(models, Enforcement::kStrict) / bound);
      shares[shared].Add(mix.OneByOne(models, Enforcement::kShared) / bound);
    }
    const std::string label = fmt::format("{}:{}:{}", split[0], split[1], split[2]);
    fmt::print("{:<12}", label);
    for (const std::string& column : columns) {
      fmt::print("{:>23}",
                 fmt::format("{:.3f} ({:.3f})", shares[column].sum, shares[column].worst));
      results.Figure(fmt::format("{} {} of the bound", label, column), shares[column].sum);
      results.Figure(fmt::format("{} {} of the bound, worst mix", label, column),
                     shares[column].worst);
      means[column].Add(shares[column].sum);
    }
    fmt::print("\n");
    if (split[0] < 50) {
      const double burstable =
          std::max(shares["burstable-spread"].sum, shares["burstable-packed"].sum);
      results.Check({label + ": ours / the better burstable form",
                     shares["synergy-rounds"].sum / burstable, 1.0, true});
    }
    ++splits;
  }
  const double scale = static_cast<double>(kMixes) / static_cast<double>(splits);
  const Share& a_round = means["synergy-rounds-strict"];
  results.Check({"a round: ours / bound, mean over the splits", a_round.sum * scale, 0.985, true});
  results.Check({"a round: ours / bound, worst split", a_round.worst, 0.97, true});
  for (const std::string& product : {strict, shared}) {
    results.Check({product + ": the product / bound, mean over the splits",
                   means[product].sum * scale, 0.97, true});
    results.Check(
        {product + ": the product / bound, worst split", means[product].worst, 0.95, true});
  }
}

}  // namespace synergy::bench
