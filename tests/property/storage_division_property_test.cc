// Tests re-division on nodes whose shares read from the same storage, against exhaustive search
// with a simple model of water-filling. SYNERGY_HISTORIES sets the number of nodes
// (support/histories.h).

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "allocation/surplus.h"
#include "core/random.h"
#include "profile/cache_model.h"
#include "support/histories.h"

namespace synergy::testing {
namespace {

constexpr int64_t kMostCores = 4;
constexpr int64_t kCacheParts = 4;

struct Training {
  std::shared_ptr<const JobProfile> profile;
  DataReads reads;
};

// One division of a node's CPU and memory.
using Amounts = std::vector<ResourceVector>;

struct StorageNode {
  std::vector<Training> trainings;
  ResourceVector capacity;
  double bandwidth = 0;
  ResourceVector fair;  // fair share of each; also what each has at first

  // A share cannot use more than kMostCores, or more memory than its data set.
  std::vector<PodShare> Shares(bool storage_known) const {
    std::vector<PodShare> shares;
    for (const Training& training : trainings) {
      PodShare share;
      share.profile = training.profile.get();
      share.current = share.fair = fair;
      share.least = {Gpus(1), Cores(1), std::min(training.reads.process, fair.memory)};
      share.most = {Gpus(1), Cores(kMostCores), training.reads.Enough()};
      share.whole_cpus = true;
      if (storage_known) share.storage = OnStorage{.reads = training.reads, .bandwidth = bandwidth};
      shares.push_back(share);
    }
    return shares;
  }

  // Returns the sum of the throughputs, each as a multiple of that at the fair share.
  double Total(const Amounts& amounts) const {
    std::vector<double> needs;
    for (size_t i = 0; i < amounts.size(); ++i)
      needs.push_back(trainings[i].reads.NeedOf(*trainings[i].profile, amounts[i]));
    // Raises the level until the bandwidth is used up, or all needs are met.
    double level = 0;
    double left = bandwidth;
    for (std::vector<double> unmet = needs; left > 1e-6 * bandwidth && !unmet.empty();) {
      const double least = *std::min_element(unmet.begin(), unmet.end()) - level;
      const double rise = std::min(least, left / static_cast<double>(unmet.size()));
      level += rise;
      left -= rise * static_cast<double>(unmet.size());
      std::erase_if(unmet, [&](double need) { return need <= level * (1 + 1e-12); });
    }
    double total = 0;
    for (size_t i = 0; i < amounts.size(); ++i) {
      const JobProfile& profile = *trainings[i].profile;
      const double rate = profile.ThroughputAt(amounts[i].cpu, amounts[i].memory);
      const double part = needs[i] > 0 ? std::min(level / needs[i], 1.0) : 1;
      total += rate * part / profile.ThroughputAt(fair.cpu, fair.memory);
    }
    return total;
  }
};

StorageNode Generated(Random& random) {
  StorageNode node;
  const uint64_t count = 2 + random.Below(2);
  const auto from = [&random](double least, double most) {
    return least + (most - least) * random.Uniform();
  };
  node.bandwidth = 500e6;
  double data = 0;
  for (uint64_t number = 0; number < count; ++number) {
    Training training;
    training.reads.process = Bytes(static_cast<int64_t>(from(2e9, 8e9)));
    training.reads.data_set = Bytes(static_cast<int64_t>(from(10e9, 200e9)));
    const double best = from(1, 10);
    const double useful_cores = from(0.5, 6);
    training.reads.per_iteration = from(0.1, 3) * node.bandwidth / best;
    std::vector<CpuPoint> points;
    for (int64_t cores = 1; cores <= kMostCores; ++cores) {
      const double part = std::min(static_cast<double>(cores) / useful_cores, 1.0);
      points.push_back({Cores(cores), best * part});
    }
    const CacheModel model{training.reads.data_set, Bytes(static_cast<int64_t>(node.bandwidth)),
                           Bytes(static_cast<int64_t>(training.reads.per_iteration))};
    training.profile = std::make_shared<const JobProfile>(
        *CalculateProfile(Gpus(1), points, model, {}, training.reads.process));
    data += static_cast<double>(training.reads.Enough().count());
    node.trainings.push_back(std::move(training));
  }
  const auto each =
      static_cast<int64_t>(std::max(data * from(0.1, 1) / static_cast<double>(count), 9e9));
  node.fair = {Gpus(1), Cores(2), Bytes(each)};
  const auto pods = static_cast<int64_t>(count);
  node.capacity = {Gpus(pods), Cores(2) * pods, Bytes(each) * pods};
  return node;
}

// Returns the highest total throughput of all amounts in whole cores and quarters of data sets.
double Exhaustive(const StorageNode& node, const std::vector<PodShare>& shares,
                  const ResourceVector& left, Amounts& amounts) {
  const size_t next = amounts.size();
  if (next == shares.size()) return node.Total(amounts);
  double best = 0;
  const DataReads& reads = node.trainings[next].reads;
  for (int64_t cores = 1; cores <= kMostCores; ++cores) {
    for (int64_t part = 0; part <= kCacheParts; ++part) {
      const Bytes memory = reads.process + Bytes(reads.data_set.count() / kCacheParts * part);
      const ResourceVector take{Gpus(1), Cores(cores), memory};
      if (!take.FitsWithin(left)) continue;
      amounts.push_back(take);
      best = std::max(best, Exhaustive(node, shares, left - take, amounts));
      amounts.pop_back();
    }
  }
  return best;
}

// Achieved fractions of the best total throughput, over all nodes.
struct Ratios {
  explicit Ratios(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    least = values.front();
    percentile = values[values.size() / 100];
    mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  void Record(const std::string& name) const {
    ::testing::Test::RecordProperty(name + "_mean", std::to_string(mean));
    ::testing::Test::RecordProperty(name + "_percentile_1", std::to_string(percentile));
    ::testing::Test::RecordProperty(name + "_least", std::to_string(least));
  }

  double least = 0;
  double percentile = 0;  // 1 % of the nodes are below
  double mean = 0;
};

TEST(StorageDivisionProperty, IsNearTheBestOfAllDivisions) {
  const uint64_t histories = Histories(300);
  std::vector<double> known;
  std::vector<double> blind;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + histories; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const StorageNode node = Generated(random);
    const std::vector<PodShare> shares = node.Shares(true);
    const Amounts divided = Regrow(shares, {});
    ResourceVector used;
    for (size_t i = 0; i < divided.size(); ++i) {
      used += divided[i];
      ASSERT_GE(divided[i].memory, shares[i].least.memory);
    }
    ASSERT_TRUE(used.FitsWithin(node.capacity));
    // The division tries finer amounts, so it may find better ones.
    Amounts none;
    const double best = Exhaustive(node, shares, node.capacity, none);
    known.push_back(std::min(node.Total(divided) / best, 1.0));
    blind.push_back(std::min(node.Total(Regrow(node.Shares(false), {})) / best, 1.0));
  }
  const Ratios of_known(std::move(known));
  const Ratios of_blind(std::move(blind));
  of_known.Record("known");
  of_blind.Record("without");
  EXPECT_GE(of_known.least, 0.8);
  EXPECT_GE(of_known.percentile, 0.96);
  EXPECT_GE(of_known.mean, 0.999);
  EXPECT_LT(of_blind.mean, 0.9) << "the nodes are not short of storage";
}

}  // namespace
}  // namespace synergy::testing
