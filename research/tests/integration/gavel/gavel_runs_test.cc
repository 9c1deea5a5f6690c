// Compares runs with those of the authors' simulator, job by job if the policy has only one answer.
// Otherwise compares mean completion times, because the solver's choice among several optima is
// arbitrary.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "config/text_file.h"
#include "research/gavel/gavel_simulator.h"
#include "sim/csv.h"

namespace synergy::testing {
namespace {

struct Trace {
  std::string name;
  double gpus;  // number of each type
  bool all;     // whether every policy below was recorded
};

class GavelRunsTest : public ::testing::TestWithParam<Trace> {
 protected:
  void SetUp() override {
    const std::string stem = std::string(SYNERGY_TEST_DATA) + "/gavel/runs/" + GetParam().name;
    const auto trace = config::ReadTextFile(stem + ".trace");
    ASSERT_TRUE(trace) << trace.error().message;
    auto jobs = ParseGavelTrace(*trace, stem);
    ASSERT_TRUE(jobs) << jobs.error().message;
    jobs_ = *std::move(jobs);
    auto text = config::ReadTextFile(stem + ".jct.csv");
    ASSERT_TRUE(text) << text.error().message;
    recorded_ = *std::move(text);
  }

  // Returns the completion time of each job; empty if the policy was not recorded.
  std::vector<double> Recorded(const std::string& policy) const {
    const auto table = CsvTable::Parse(recorded_, GetParam().name);
    EXPECT_TRUE(table) << table.error().message;
    const auto column = table->Find(policy);
    std::vector<double> times;
    for (size_t row = 0; column && row < table->rows(); ++row) {
      times.push_back(*table->At(row, *column).Number(0));
    }
    return times;
  }

  std::vector<double> Simulated(const std::string& policy) const {
    const GavelThroughputs throughputs = GavelThroughputs::Published();
    const double gpus = GetParam().gpus;
    const auto run = SimulateGavel(jobs_, throughputs,
                                   {.types = *throughputs.FastestFirst({"k80", "p100", "v100"}),
                                    .gpus = {gpus, gpus, gpus},
                                    .costs = {},
                                    .policy = policy,
                                    .on_solve = {},
                                    .on_finished = {}});
    EXPECT_TRUE(run) << run.error().message;
    std::vector<double> times;
    for (const JobTimes& job : run->jobs) {
      times.push_back((*job.finished - job.submitted).count());
    }
    return times;
  }

  static double Mean(const std::vector<double>& times) {
    double sum = 0;
    for (const double time : times) sum += time;
    return sum / static_cast<double>(times.size());
  }

  double Makespan(const std::vector<double>& times) const {
    double last = 0;
    for (size_t job = 0; job < times.size(); ++job) {
      last = std::max(last, jobs_[job].submitted.count() + times[job]);
    }
    return last;
  }

  std::vector<GavelTraceJob> jobs_;
  std::string recorded_;
};

TEST_P(GavelRunsTest, FifoEndsEveryJobWhenItDidForTheAuthors) {
  const std::vector<double> recorded = Recorded("fifo_perf");
  const std::vector<double> simulated = Simulated("fifo_perf");
  ASSERT_EQ(simulated.size(), recorded.size());
  for (size_t job = 0; job < recorded.size(); ++job) {
    EXPECT_NEAR(simulated[job], recorded[job], 0.02) << "job " << job;
  }
}

TEST_P(GavelRunsTest, MeansAreNotAboveTheAuthors) {
  for (const std::string policy :
       {"max_min_fairness_perf", "finish_time_fairness_perf", "min_total_duration_perf"}) {
    const std::vector<double> recorded = Recorded(policy);
    EXPECT_TRUE(!recorded.empty() || !GetParam().all) << policy;
    if (recorded.empty()) continue;
    EXPECT_LE(Mean(Simulated(policy)), 1.02 * Mean(recorded)) << policy;
  }
}

TEST_P(GavelRunsTest, TheMakespanIsNotAboveTheAuthors) {
  const std::string policy = "min_total_duration_perf";
  EXPECT_LE(Makespan(Simulated(policy)), 1.01 * Makespan(Recorded(policy)));
}

TEST_P(GavelRunsTest, WaterFillingsMeanIsTheAuthors) {
  const std::string policy = "max_min_fairness_water_filling_perf";
  const std::vector<double> recorded = Recorded(policy);
  EXPECT_TRUE(!recorded.empty() || !GetParam().all);
  if (recorded.empty()) return;
  EXPECT_NEAR(Mean(Simulated(policy)), Mean(recorded), 0.02 * Mean(recorded));
}

// Two jobs on one GPU end when the longer one has done its round. For FIFO the authors' program
// chooses some other pairs.
TEST_P(GavelRunsTest, PackedMeansAreNotAboveTheAuthors) {
  for (const std::string policy :
       {"max_min_fairness_packed", "max_min_fairness_water_filling_packed",
        "finish_time_fairness_packed", "fifo_packed"}) {
    const std::vector<double> recorded = Recorded(policy);
    EXPECT_TRUE(!recorded.empty() || !GetParam().all) << policy;
    if (recorded.empty()) continue;
    EXPECT_LE(Mean(Simulated(policy)), 1.03 * Mean(recorded)) << policy;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GavelRunsTest,
                         ::testing::Values(Trace{"cont_multi_80", 4, true},
                                           Trace{"cont_single_80", 4, true},
                                           Trace{"static_multi_120", 12, false}));

}  // namespace
}  // namespace synergy::testing
