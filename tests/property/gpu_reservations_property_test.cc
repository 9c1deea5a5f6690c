// Reservations on generated clusters: nothing is given twice, a job can start when the jobs that it
// waits for have ended, and where all ends are known exactly, no pod that may pass delays a start.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "engine/reservations/gpu_reservations.h"

namespace synergy::testing {
namespace {

constexpr Instant kNow{std::chrono::hours(1000)};

Duration Minutes(uint64_t count) { return std::chrono::minutes(count); }

MilliCpu SomeCpu(Random& random) { return Cores(static_cast<int64_t>(random.Below(12))); }
Bytes SomeMemory(Random& random) { return GiB(static_cast<int64_t>(random.Below(24))); }

GpuCluster Generated(Random& random, bool exact) {
  GpuCluster cluster;
  cluster.products.resize(1 + random.Below(2));
  for (auto& settings : cluster.products) {
    if (random.Below(8) == 0) continue;
    settings.emplace();
    settings->most = 1 + random.Below(4);
    settings->least_gpus = Gpus(static_cast<int64_t>(random.Below(3)));
  }
  const uint64_t nodes = 1 + random.Below(6);
  for (uint64_t number = 0; number < nodes; ++number) {
    GpuNode node{.name = "n" + std::to_string(number),
                 .product = random.Below(cluster.products.size()),
                 .gpus = Gpus(static_cast<int64_t>(4 + 4 * random.Below(2))),
                 .takes_pods = random.Below(8) != 0,
                 .cpu = Cores(32),
                 .memory = GiB(static_cast<int64_t>(32 + random.Below(64))),
                 .uses = {}};
    int64_t left = node.gpus.count();
    MilliCpu cpu_left = node.cpu;
    Bytes memory_left = node.memory;
    while (left > 0 && random.Below(6) != 0) {
      const auto gpus = static_cast<int64_t>(1 + random.Below(static_cast<uint64_t>(left)));
      left -= gpus;
      std::optional<TimeRange> ends;
      if (random.Below(6) != 0) {
        const Instant likely = kNow + Minutes(random.Below(600));
        ends = {likely, likely, likely};
        if (!exact) {
          ends->earliest -= Minutes(random.Below(60));
          ends->latest += Minutes(random.Below(600));
        }
      }
      const MilliCpu cpu = std::min(SomeCpu(random), cpu_left);
      const Bytes memory = std::min(SomeMemory(random), memory_left);
      cpu_left -= cpu;
      memory_left -= memory;
      node.uses.push_back({cluster.running.size(), Gpus(gpus), cpu, memory});
      cluster.running.push_back({"r" + std::to_string(cluster.running.size()), ends});
    }
    cluster.nodes.push_back(std::move(node));
  }
  for (int set = 0; set < 3; ++set) {
    auto& allowed = cluster.node_sets.emplace_back();
    for (uint64_t node = 0; node < nodes; ++node)
      allowed.push_back(set == 0 || random.Below(2) == 0);
  }
  for (uint64_t number = random.Below(8); number > 0; --number) {
    WaitingGpuJob job{.name = "w" + std::to_string(number),
                      .priority = static_cast<int32_t>(random.Below(2)),
                      .since = kNow - Minutes(random.Below(60)),
                      .pods = {},
                      .nodes = random.Below(3),
                      .expects_nodes = random.Below(8) == 0};
    const uint64_t pods = random.Below(3) == 0 ? 1 + random.Below(4) : 1;
    for (uint64_t pod = 0; pod < pods; ++pod)
      job.pods.push_back(
          {Gpus(static_cast<int64_t>(1 + random.Below(8))), SomeCpu(random), SomeMemory(random)});
    cluster.waiting.push_back(std::move(job));
  }
  return cluster;
}

const GpuNode& NodeOf(const GpuCluster& cluster, const std::string& name) {
  return *std::find_if(cluster.nodes.begin(), cluster.nodes.end(),
                       [&](const GpuNode& node) { return node.name == name; });
}

// Returns what is free on the node once the jobs of that name have ended.
ResourceVector FreeWithout(const GpuCluster& cluster, const GpuNode& node,
                           const std::set<std::string>& ended) {
  ResourceVector free{node.gpus, node.cpu, node.memory};
  for (const GpuNode::Use& use : node.uses) {
    if (!ended.contains(cluster.running[use.job].name)) free -= {use.gpus, use.cpu, use.memory};
  }
  return free;
}

void ExpectWhole(const GpuCluster& cluster, const ReservationPlan& plan) {
  std::map<std::string, ResourceVector> reserved;
  std::set<std::string> ended;
  std::map<size_t, size_t> given;
  for (const GpuReservation& reservation : plan.reservations) {
    ended.insert(reservation.waits_for.begin(), reservation.waits_for.end());
    ASSERT_LE(++given[reservation.product], cluster.products[reservation.product]->most);
    ASSERT_LE(reservation.starts.earliest, reservation.starts.likely);
    ASSERT_LE(reservation.starts.likely, reservation.starts.latest);
    const auto job =
        std::find_if(cluster.waiting.begin(), cluster.waiting.end(),
                     [&](const WaitingGpuJob& each) { return each.name == reservation.job; });
    ResourceVector asked;
    for (const ResourceVector& pod : job->pods) asked += pod;
    for (const GpuReservation::Place& place : reservation.places) {
      const GpuNode& node = NodeOf(cluster, place.node);
      ASSERT_TRUE(node.takes_pods);
      ASSERT_EQ(node.product, reservation.product);
      ASSERT_TRUE(cluster.node_sets[job->nodes][static_cast<size_t>(&node - cluster.nodes.data())]);
      asked -= {place.gpus, place.cpu, place.memory};
      reserved[place.node] += {place.gpus, place.cpu, place.memory};
      // All jobs that were given before it have theirs beside it.
      ASSERT_TRUE(reserved[place.node].FitsWithin(FreeWithout(cluster, node, ended))) << place.node;
    }
    ASSERT_EQ(asked, ResourceVector{});
    for (const std::string& name : reservation.waits_for) {
      const auto running =
          std::find_if(cluster.running.begin(), cluster.running.end(),
                       [&](const RunningGpuJob& each) { return each.name == name; });
      ASSERT_TRUE(running->ends);
      ASSERT_LE(running->ends->likely, std::max(reservation.starts.likely, kNow));
    }
  }
}

TEST(GpuReservationsProperty, NothingIsGivenTwiceAndAllIsFreeWhenTheAwaitedJobsHaveEnded) {
  size_t given = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const GpuCluster cluster = Generated(random, false);
    const ReservationPlan plan = PlanReservations(cluster, {}, kNow);
    ASSERT_NO_FATAL_FAILURE(ExpectWhole(cluster, plan));
    ASSERT_EQ(static_cast<size_t>(std::count(plan.outcomes.begin(), plan.outcomes.end(),
                                             ReservationOutcome::kReserved)),
              plan.reservations.size());
    given += plan.reservations.size();
    // Nothing has changed, so nothing changes.
    ASSERT_EQ(PlanReservations(cluster, plan.reservations, kNow).reservations, plan.reservations);
  }
  EXPECT_GT(given, 200u);
}

// Pods come at random and go wherever they may; each that goes to reserved GPUs does so for one of
// the reasons that leave the start as it is.
TEST(GpuReservationsProperty, PassingPodsDelayNoStartWhereEndsAreExact) {
  size_t passed = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    GpuCluster cluster = Generated(random, true);
    const ReservationPlan plan = PlanReservations(cluster, {}, kNow);
    if (plan.reservations.empty()) continue;
    for (int pod = 0; pod < 12; ++pod) {
      GpuNode& node = cluster.nodes[random.Below(cluster.nodes.size())];
      const Gpus free = FreeWithout(cluster, node, {}).gpus;
      if (free <= Gpus(0) || !node.takes_pods) continue;
      const std::string name = "x" + std::to_string(pod);
      PassingPod passing{
          .job = name,
          .gpus =
              Gpus(static_cast<int64_t>(1 + random.Below(static_cast<uint64_t>(free.count()))))};
      if (random.Below(2) == 0) passing.longest = Minutes(random.Below(600));
      std::vector<HeldGpus> held;
      for (const GpuNode::Use& use : node.uses)
        held.push_back({cluster.running[use.job].name, use.gpus});
      const PassingVerdict verdict =
          MayTake(passing, plan.reservations, node.name, free, held, kNow);
      if (verdict.passing == Passing::kRefused) continue;
      ++passed;
      std::optional<TimeRange> ends;
      if (passing.longest)
        ends = {kNow + *passing.longest, kNow + *passing.longest, kNow + *passing.longest};
      node.uses.push_back({cluster.running.size(), passing.gpus});
      cluster.running.push_back({name, ends});
    }
    // At each start, what has ended by then leaves the reservation and those before it their GPUs.
    for (const GpuReservation& reservation : plan.reservations) {
      std::set<std::string> ended;
      for (const RunningGpuJob& job : cluster.running) {
        if (job.ends && job.ends->likely <= reservation.starts.likely) ended.insert(job.name);
      }
      for (const GpuNode& node : cluster.nodes) {
        Gpus reserved;
        for (const GpuReservation& other : plan.reservations) {
          for (const GpuReservation::Place& place : other.places) {
            if (place.node == node.name && other.starts.likely <= reservation.starts.likely)
              reserved += place.gpus;
          }
        }
        ASSERT_TRUE(reserved == Gpus(0) || reserved <= FreeWithout(cluster, node, ended).gpus)
            << reservation.job << " on " << node.name;
      }
    }
  }
  EXPECT_GT(passed, 200u);
}

}  // namespace
}  // namespace synergy::testing
