#include "research/reference/opt.h"

#include <deque>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "research/tests/unit/reference/reference_vocabulary.h"

namespace synergy::reference {
namespace {

// Returns throughputs with 1, 3, 6 and 12 CPUs, each with 20, 62.5 and 125 GB.
ModelFact Measured(std::vector<double> throughput) {
  ModelFact fact = Fact(1, 20, 1, 1);
  fact.cpus = {Cores(1), Cores(3), Cores(6), Cores(12)};
  fact.memories = {GB(20), Bytes(62'500'000'000), GB(125)};
  fact.throughput = std::move(throughput);
  return fact;
}

// Tests one round with Opt. alexnet gains from CPU and memory, gnmt needs neither.
class OptTest : public ::testing::Test {
 protected:
  OptTest() {
    facts_.Set("alexnet", Gpus(1), Measured({0.1, 0.3, 0.3, 0.1, 1, 1, 0.1, 1.5, 1.75, 0.1, 2, 3}));
    facts_.Set("gnmt", Gpus(1), Measured({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
    facts_.Set("lstm", Gpus(1), Fact(1, 20, 1, 1));  // without a matrix
  }

  Job& Add(const std::string& model, int64_t gpus = 1) {
    const TraceJob job = OneOf(model, static_cast<int64_t>(jobs_.size()), gpus, 0, 100'000);
    jobs_.push_back(*MakeJob(job, static_cast<uint32_t>(jobs_.size()), facts_, kServer, kRound));
    ordered_.push_back(&jobs_.back());
    return jobs_.back();
  }
  void Add(int count, const std::string& model) {
    for (int i = 0; i < count; ++i) Add(model);
  }

  Result<> Allocate(uint32_t servers) {
    cluster_ = Cluster(servers, kServer);
    Opt opt({cluster_, placement_, kRound});
    return opt.Allocate(ordered_, running_);
  }

  // Returns the iterations of all jobs in the round.
  int64_t Done() const {
    int64_t done = 0;
    for (const Job& job : jobs_) done += job.done;
    return done;
  }

  ModelFacts facts_;
  Cluster cluster_{1, kServer};
  Placement placement_{cluster_, /*consolidate=*/false};
  std::deque<Job> jobs_;
  std::vector<Job*> ordered_;
  std::vector<Job*> running_;
};

TEST_F(OptTest, TheJobAloneGetsItsFastestCell) {
  const Job& job = Add("alexnet");
  ASSERT_TRUE(Allocate(1));
  EXPECT_EQ(job.done, 900);
  EXPECT_EQ(job.attained, 300);
}

TEST_F(OptTest, CpuGoesWhereTheSumIsTheMost) {
  Add(3, "alexnet");
  Add(5, "gnmt");
  ASSERT_TRUE(Allocate(1));
  // gnmt gets 5 of the 24 CPUs. Of the rest, one alexnet gets 12 and two get 3, or three get 6: 3 +
  // 1 + 1 is less than 1.75 x 3.
  EXPECT_EQ(Done(), 5 * 300 + 3 * 525);
}

TEST_F(OptTest, EarlierJobsOfAModelGetItsFasterCells) {
  const Job& first = Add("alexnet");
  const Job& second = Add("alexnet");
  Add(6, "gnmt");
  ASSERT_TRUE(Allocate(1));
  // The two jobs have 18 CPUs: 12 and 6.
  EXPECT_EQ(first.done, 900);
  EXPECT_EQ(second.done, 525);
}

TEST_F(OptTest, NoJobFallsBelowItsFairShare) {
  Add(8, "alexnet");
  ASSERT_TRUE(Allocate(1));
  for (const Job& job : jobs_) EXPECT_EQ(job.done, 300);
}

TEST_F(OptTest, AJobTakesItsCellForEachOfItsGpus) {
  const Job& job = Add("alexnet", 4);
  ASSERT_TRUE(Allocate(1));
  EXPECT_EQ(job.done, 525);  // 4 x 6 CPUs, 4 x 125 GB
}

TEST_F(OptTest, AllRunInTheirOrderAndNoServerIsTaken) {
  Add(2, "gnmt");
  Add(2, "alexnet");
  Add(2, "gnmt");
  ASSERT_TRUE(Allocate(1));
  EXPECT_EQ(running_, ordered_);
  EXPECT_EQ(cluster_.free_gpus(), 2);
  EXPECT_EQ(cluster_.Used(0)[kGpu], 0);
}

TEST_F(OptTest, NoJobsAreNoFault) {
  ASSERT_TRUE(Allocate(1));
  EXPECT_TRUE(running_.empty());
}

TEST_F(OptTest, AModelThatWasNotMeasuredAtTheFairShareIsNamed) {
  Add("lstm");
  const auto allocated = Allocate(1);
  ASSERT_FALSE(allocated);
  EXPECT_EQ(allocated.error().message,
            "job 0: its model's throughput was not measured with the fair share of 3 CPUs and 62.5 "
            "GB per GPU; the authors' program ends here: use other servers, or measure the model");
}

}  // namespace
}  // namespace synergy::reference
