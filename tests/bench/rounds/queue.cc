#include "bench/rounds/queue.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/random.h"
#include "queues/rounds.h"

namespace synergy::bench {
namespace {

constexpr WallTime kNow{Duration(std::chrono::hours(500'000))};
constexpr size_t kWaiting = 10'000;
constexpr size_t kRunning = 2000;
constexpr int64_t kQuota = 4000;

std::vector<RoundWorkload> LargeQueue() {
  Random random(42);
  std::vector<RoundWorkload> workloads(kWaiting + kRunning);
  for (size_t at = 0; at < workloads.size(); ++at) {
    RoundWorkload& workload = workloads[at];
    workload.name = fmt::format("team-{}/train-{:05}", random.Below(20), at);
    workload.may_lose_turn = random.Below(10) != 0;
    workload.gpus = Gpus(int64_t{1} << random.Below(4));
    workload.own_priority = static_cast<int64_t>(random.Below(3)) * 100;
    workload.created = kNow - std::chrono::seconds(random.Below(100'000));
    const bool runs = at < kRunning;
    workload.state = runs ? RoundState::kRuns : RoundState::kWaits;
    workload.band = runs ? Band::kRuns : Band::kWaits;
    workload.started = kNow - std::chrono::seconds(random.Below(5000));
    workload.service.served = static_cast<double>(random.Below(100'000));
    workload.service.place.served = Seconds(workload.service.served);
    workload.service.remaining = Seconds(static_cast<double>(random.Below(100'000)));
  }
  return workloads;
}

std::vector<double> Sizes() {
  Random random(7);
  std::vector<double> sizes(1000);
  for (double& size : sizes) size = static_cast<double>(1 + random.Below(100'000));
  return sizes;
}

}  // namespace

void BenchQueue(Results& results) {
  const std::vector<RoundWorkload> workloads = LargeQueue();
  for (const PolicyName& policy : PolicyNames()) {
    RoundSettings settings;
    settings.policy = policy.name;
    settings.sizes = Sizes();
    const Rounds rounds = *Rounds::Make(std::move(settings));
    double least = 1e300;
    for (int repeat = 0; repeat < 10; ++repeat) {
      const std::clock_t begin = std::clock();
      const RoundDecision decision = rounds.Decide(Gpus(kQuota), workloads, true, kNow);
      least = std::min(least, 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
      if (decision.verdicts.size() != workloads.size()) std::abort();
    }
    results.Check(
        {fmt::format("{}: {} that wait, {} that run: CPU ms", policy.name, kWaiting, kRunning),
         least, 100});
  }
}

}  // namespace synergy::bench
