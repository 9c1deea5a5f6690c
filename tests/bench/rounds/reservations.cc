#include "bench/rounds/reservations.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/random.h"
#include "engine/reservations/gpu_reservations.h"

namespace synergy::bench {
namespace {

// The moment of the plan.
constexpr Instant kPlanned{std::chrono::hours(100)};

// 40,000 pods with a GPU each, and jobs that wait for 8 to 64; nine of ten pods have a known end.
GpuCluster LargeCluster(size_t most) {
  constexpr size_t kNodesOfCluster = 5000;
  constexpr int64_t kGpus = 8;  // of a node
  Random random(42);
  GpuCluster cluster;
  cluster.products = {ReservationSettings{.most = most}};
  cluster.node_sets = {std::vector<bool>(kNodesOfCluster, true)};
  for (size_t at = 0; at < kNodesOfCluster; ++at) {
    GpuNode& node = cluster.nodes.emplace_back();
    node.name = fmt::format("node-{:05}", at);
    node.gpus = Gpus(kGpus);
    node.cpu = Cores(64);
    node.memory = GiB(512);
    for (int64_t gpu = 0; gpu < kGpus; ++gpu) {
      RunningGpuJob job{.name = fmt::format("team/train-{:05}-{}", at, gpu), .ends = {}};
      if (random.Below(10) > 0) {
        const Instant likely = kPlanned + std::chrono::seconds(60 + random.Below(200'000));
        job.ends = TimeRange{likely - std::chrono::seconds(30), likely,
                             likely + std::chrono::seconds(random.Below(20'000))};
      }
      node.uses.push_back({cluster.running.size(), Gpus(1), Cores(4), GiB(40)});
      cluster.running.push_back(std::move(job));
    }
  }
  for (size_t at = 0; at < 1000; ++at) {
    WaitingGpuJob& job = cluster.waiting.emplace_back();
    job.name = fmt::format("team/large-{:04}", at);
    job.priority = static_cast<int32_t>(random.Below(3)) * 100;
    job.since = kPlanned - std::chrono::seconds(random.Below(100'000));
    job.pods.assign(1 + random.Below(8), {Gpus(kGpus), Cores(32), GiB(300)});
  }
  return cluster;
}

}  // namespace

void BenchReservations(Results& results) {
  for (const size_t most : {size_t{1}, size_t{8}, size_t{32}}) {
    const GpuCluster cluster = LargeCluster(most);
    std::vector<GpuReservation> before;
    double least = 1e300;
    for (int repeat = 0; repeat < 10; ++repeat) {
      const std::clock_t begin = std::clock();
      ReservationPlan plan = PlanReservations(cluster, before, kPlanned);
      least = std::min(least, 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
      if (plan.reservations.size() != most) std::abort();
      before = std::move(plan.reservations);
    }
    fmt::print("{:>3} reservations, {} nodes, {} pods, {} jobs that wait: {:.2f} ms of CPU\n", most,
               cluster.nodes.size(), cluster.running.size(), cluster.waiting.size(), least);
    results.Figure(fmt::format("{} reservations ms", most), least);
    results.Check({fmt::format("a plan of {} reservations: ms", most), least, 50});
  }
}

}  // namespace synergy::bench
