#pragma once

// Random jobs of the workload `training` for tests of the simulator.

#include <cstdint>
#include <string>
#include <vector>

#include "core/random.h"
#include "sim/cluster/product_simulator.h"

namespace synergy::testing {

struct RandomJobs {
  uint64_t jobs = 25;
  uint64_t models = 3;        // the models are a, b, c and so on; `profiles` has each for one GPU
  uint64_t gap = 400;         // the next job arrives less than this many seconds later
  uint64_t large_one_in = 4;  // one in this many jobs, on average, has 6 GPUs; others have 1 to 3
  // A job has 100 seconds of work at the fair share, plus less than this many seconds.
  uint64_t work = 4000;
};

// REQUIRES: `profiles` has the models with 3 cores and 20 GiB.
inline std::vector<ProductJob> MakeRandomJobs(Random& random, const ModelProfiles& profiles,
                                              const RandomJobs& ranges) {
  std::vector<ProductJob> jobs;
  double arrival = 0;
  for (uint64_t id = 0; id < ranges.jobs; ++id) {
    arrival += static_cast<double>(random.Below(ranges.gap));
    const std::string model(1, static_cast<char>('a' + random.Below(ranges.models)));
    const bool large = random.Below(ranges.large_one_in) == 0;
    const Gpus gpus(large ? 6 : static_cast<int64_t>(1 + random.Below(3)));
    const double fair =
        profiles.Find("training", model, Gpus(1)).profile->ThroughputAt(Cores(3), GiB(20));
    jobs.push_back({id, model, gpus, Seconds(arrival),
                    Seconds(static_cast<double>(100 + random.Below(ranges.work))),
                    fair * static_cast<double>(gpus.count())});
  }
  return jobs;
}

}  // namespace synergy::testing
