#include "profile/measured/memory_study.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace synergy {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// A training with 40 GB of data and 8 GB of processes that does 10 iterations per second of 4 MB
// each, unless storage, with 20 MB per second, delays it. The cache keeps `cache` of its data.
struct MadeReader {
  double cache = 20e9;
  double charged = 20e9;  // part of the cache that is charged to the training
  bool reports_epochs = true;
  double bytes = 4e6;
  Bytes process = GB(8);

  PodProgress progress = {};

  void Run(MemoryStudy& study, Duration time) {
    constexpr double kData = 40e9;
    constexpr double kDelivers = 20e6;
    const double missed = 1 - cache / kData;
    const double rate = missed > 0 ? std::min(10.0, kDelivers / (bytes * missed)) : 10.0;
    for (Duration past{}; past < time; past += seconds(10)) {
      if (!progress.memory) progress.memory = MemoryUse{.starved = Duration::zero()};
      MemoryUse& use = *progress.memory;
      use.process = process;
      use.cache = Bytes(static_cast<int64_t>(charged));
      use.read += bytes * rate * 10;
      use.fetched += missed * bytes * rate * 10;
      if (rate < 10) *use.starved += seconds(9);
      use.at += seconds(10);
      progress.iterations += rate * 10;
      if (reports_epochs) progress.epoch = use.read / kData;
      Note(study, progress);
    }
  }
};

TEST(MemoryStudyTest, EstimatesTheUseOfMemoryBeforeItIsConfirmed) {
  MemoryStudy study;
  MadeReader reader;
  reader.Run(study, minutes(4));
  EXPECT_FALSE(MemoryOf(study));
  reader.Run(study, minutes(55));
  const auto soon = MemoryOf(study);
  ASSERT_TRUE(soon);
  EXPECT_FALSE(soon->confirmed);
  reader.Run(study, minutes(2));
  const auto memory = MemoryOf(study);
  ASSERT_TRUE(memory);
  EXPECT_TRUE(memory->confirmed);
  EXPECT_TRUE(Differ(*soon, *memory, 0.05)) << "it is published again";
  EXPECT_TRUE(Combined(*memory, *soon).confirmed);
  EXPECT_EQ(soon->data_set, memory->data_set);
  EXPECT_EQ(memory->process, GB(8));
  EXPECT_NEAR(static_cast<double>(memory->data_set.count()), 40e9, 1e6);
  EXPECT_NEAR(static_cast<double>(memory->bytes_per_iteration.count()), 4e6, 10);
  ASSERT_TRUE(memory->storage_bandwidth);
  EXPECT_NEAR(static_cast<double>(memory->storage_bandwidth->count()), 20e6, 1e3);
  // At 10 iterations per second of 4 MB, half of the data is missed, which storage can just
  // deliver.
  EXPECT_FALSE(study.waits);
}

TEST(MemoryStudyTest, RecognizesAWaitForStorage) {
  MemoryStudy study;
  MadeReader reader{.cache = 4e9, .charged = 4e9};
  reader.Run(study, minutes(2));
  EXPECT_TRUE(study.waits);
}

TEST(MemoryStudyTest, ConcludesNothingFromAnothersCache) {
  MemoryStudy study;
  MadeReader reader{.cache = 40e9, .charged = 1e9};
  reader.Run(study, minutes(90));
  EXPECT_FALSE(MemoryOf(study));
}

TEST(MemoryStudyTest, ConcludesNothingFromStorageThatOthersReadToo) {
  MemoryStudy study;
  MadeReader reader;
  reader.progress.memory = MemoryUse{.starved = Duration::zero(), .shared = true};
  reader.Run(study, minutes(1));
  reader.progress.memory->shared = false;
  reader.Run(study, minutes(90));
  EXPECT_FALSE(MemoryOf(study)) << "what others have read may still be in the cache";
}

TEST(MemoryStudyTest, KeepsThePeakThatAnAgentHasForgotten) {
  MemoryStudy study;
  MadeReader reader{.process = GB(12)};
  reader.Run(study, minutes(30));
  reader.process = GB(8);
  reader.Run(study, minutes(31));
  const auto memory = MemoryOf(study);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->process, GB(12));
}

TEST(MemoryStudyTest, ConcludesNothingWithoutEpochs) {
  MemoryStudy study;
  MadeReader reader{.reports_epochs = false};
  reader.Run(study, minutes(90));
  EXPECT_FALSE(MemoryOf(study));
}

TEST(MemoryStudyTest, ACheckpointIsAsGoodAsAnHour) {
  for (const bool reads : {true, false}) {
    MemoryStudy study;
    MadeReader reader{.bytes = reads ? 4e6 : 1000};
    reader.progress.checkpoint = WallTime{};  // earlier than the first reading
    reader.Run(study, minutes(40));
    EXPECT_EQ(MemoryOf(study).has_value(), reads);
    EXPECT_FALSE(reads && MemoryOf(study)->confirmed);
    reader.progress.checkpoint = reader.progress.memory->at + seconds(5);
    reader.process = GB(11);
    reader.Run(study, seconds(30));
    EXPECT_FALSE(reads && MemoryOf(study)->confirmed) << "it may still be written";
    // Another checkpoint in between does not delay it.
    reader.progress.checkpoint = reader.progress.memory->at;
    reader.process = GB(8);
    reader.Run(study, seconds(10));
    const auto memory = MemoryOf(study);
    ASSERT_TRUE(memory);
    EXPECT_TRUE(memory->confirmed);
    EXPECT_EQ(memory->process, GB(11)) << "what it needed for it";
  }
}

TEST(MemoryStudyTest, ACheckpointBeforeTheCountersFellIsOver) {
  MemoryStudy study;
  MadeReader reader;
  reader.Run(study, minutes(6));
  reader.progress.checkpoint = reader.progress.memory->at;
  reader.Run(study, minutes(1));
  ASSERT_TRUE(study.checkpoint);
  reader.progress.memory->read = reader.progress.memory->fetched = 0;
  reader.progress.iterations = 0;
  reader.Run(study, minutes(10));
  EXPECT_FALSE(study.checkpoint);
}

TEST(MemoryStudyTest, NeedsNoEpochsOfOneThatHardlyReads) {
  MemoryStudy study;
  MadeReader reader{.reports_epochs = false, .bytes = 1000};
  reader.Run(study, minutes(59));
  EXPECT_FALSE(MemoryOf(study)) << "more memory is good for nothing, and less may be too little";
  reader.Run(study, minutes(2));
  const auto memory = MemoryOf(study);
  ASSERT_TRUE(memory);
  EXPECT_EQ(*memory, (MeasuredMemory{.process = GB(8), .confirmed = true}));
}

TEST(MemoryStudyTest, BeginsAnewWithCountersThatFall) {
  MemoryStudy study;
  MadeReader reader;
  reader.Run(study, minutes(61));
  ASSERT_TRUE(MemoryOf(study));
  reader.progress.memory->read = reader.progress.memory->fetched = 0;
  reader.progress.iterations = 0;
  reader.Run(study, minutes(1));
  EXPECT_FALSE(MemoryOf(study));
}

TEST(MeasuredMemoryTest, MakesTheProfileSensitiveToMemory) {
  MeasuredProfile measured;
  measured.points = {{Cores(2), 5}, {Cores(4), 10}};
  measured.memory = MeasuredMemory{GB(8), GB(40), Bytes(4'000'000), Bytes(20'000'000), true};
  const auto profile = MakeJobProfile(measured);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->process_memory(), GB(8));
  // It reads 40 MB per second, half of it from storage.
  EXPECT_EQ(profile->Demand(0).memory, GB(8 + 20));
  EXPECT_NEAR(profile->ThroughputAt(Cores(4), GB(8 + 10)), 20.0 / 4 / 0.75, 0.01);

  measured.memory->storage_bandwidth.reset();
  EXPECT_EQ(MakeJobProfile(measured)->Demand(0).memory, GB(8 + 40));
}

}  // namespace
}  // namespace synergy
