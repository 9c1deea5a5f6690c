#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/random.h"
#include "profile/measured/memory_study.h"

namespace synergy {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// A training as its node's agent sees it: with varying speed, whole numbers of epochs, and short
// peaks that the next reading does not show.
struct MadeTraining {
  double data = 40e9;
  double cache = 20e9;    // bytes of data that the cache keeps
  double charged = 20e9;  // bytes of these that are charged to the training
  double delivers = 20e6;
  double bytes = 4e6;  // bytes per iteration
  double noise = 0.05;
  Bytes process = GB(8);
  Bytes peak = GB(9);
  uint64_t seed = 1;

  double Missed() const { return 1 - cache / data; }
  double Rate() const {
    const double allowed = Missed() > 0 ? delivers / (bytes * Missed()) : 1e9;
    return std::min(10.0, allowed);
  }
};

class MadeReports {
 public:
  explicit MadeReports(const MadeTraining& training) : training_(training), random_(training.seed) {
    progress_.memory = MemoryUse{.starved = Duration::zero()};
  }

  void Run(MemoryStudy& study, Duration time) {
    for (Duration past{}; past < time; past += seconds(10)) {
      MemoryUse& use = *progress_.memory;
      const double done = training_.Rate() * 10 * Around(1);
      // The reads that miss the cache are random, too, but their fraction is fixed.
      const double missed = std::clamp(training_.Missed() * Around(1), 0.0, 1.0);
      use.process = random_.Uniform() < 0.02 ? training_.peak : training_.process;
      use.cache = Bytes(std::llround(training_.charged * Around(1)));
      use.read += done * training_.bytes;
      use.fetched += done * training_.bytes * missed;
      use.at += seconds(10);
      progress_.iterations += done;
      progress_.epoch = std::floor(use.read / training_.data);
      Note(study, progress_);
    }
  }

 private:
  double Around(double value) {
    return value * (1 + training_.noise * (2 * random_.Uniform() - 1));
  }

  const MadeTraining training_;
  Random random_;
  PodProgress progress_;
};

rc::Gen<MadeTraining> AnyTraining() {
  return rc::gen::apply(
      [](int data, int cached, int delivers, int noise, uint64_t seed) {
        MadeTraining training;
        training.data = data * 1e9;
        training.cache = training.charged = training.data * cached / 100;
        training.delivers = delivers * 1e6;
        training.noise = noise / 1000.0;
        training.seed = seed;
        return training;
      },
      rc::gen::inRange(2, 30), rc::gen::inRange(0, 101), rc::gen::inRange(20, 400),
      rc::gen::inRange(0, 50), rc::gen::arbitrary<uint64_t>());
}

RC_GTEST_PROP(MemoryStudyProperty, ConclusionsAreTrue, ()) {
  const MadeTraining training = *AnyTraining();
  MadeReports reports(training);
  MemoryStudy study;
  for (int quarter = 0; quarter < 16; ++quarter) {
    reports.Run(study, minutes(15));
    const auto memory = MemoryOf(study);
    if (!memory) continue;
    RC_ASSERT(memory->confirmed == (quarter >= 4));
    // The agent sees the end of an epoch up to ten seconds late.
    const double unseen = 10 * training.Rate() * training.bytes * (1 + training.noise);
    RC_ASSERT(std::abs(static_cast<double>(memory->data_set.count()) - training.data) <=
              2 * unseen + 1);
    RC_ASSERT(memory->process >= training.process && memory->process <= training.peak);
    const auto bytes = static_cast<double>(memory->bytes_per_iteration.count());
    RC_ASSERT(std::abs(bytes - training.bytes) <= 0.01 * training.bytes);
    // Storage that a training waits for delivers its full bandwidth.
    const double most = training.Missed() * training.Rate() * training.bytes;
    if (memory->storage_bandwidth) {
      RC_ASSERT(static_cast<double>(memory->storage_bandwidth->count()) <=
                most * (1 + training.noise) * (1 + training.noise) + 1);
    }
  }
  // By then every training that reads ten times the negligible amount has completed two epochs.
  const double read = 4 * 3600 * training.Rate() * training.bytes * (1 - training.noise);
  if (read > 4 * training.data) RC_ASSERT(MemoryOf(study).has_value());
}

RC_GTEST_PROP(MemoryStudyProperty, AnothersCacheIsNotTakenForNoNeed, ()) {
  MadeTraining training = *AnyTraining();
  const int others = *rc::gen::inRange(25, 101);
  // Data that another pod has read also count as hits, and are charged to that pod.
  training.cache = std::max(training.cache, training.data * others / 100);
  training.charged = training.cache - training.data * others / 100;
  MadeReports reports(training);
  MemoryStudy study;
  reports.Run(study, minutes(240));
  RC_ASSERT(!MemoryOf(study));
}

}  // namespace
}  // namespace synergy
