#include "cli/simulate/report.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::cli::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ReportTest, ARunWithoutAFeatureOfAnotherHasNoFiguresOfIt) {
  RunResult run{.workload = "w", .policy = "fifo", .mechanism = "synergy"};
  run.has_reservations = true;
  run.failures.emplace();
  run.sharing.emplace();
  run.moves.emplace();
  const RunResult baseline{.workload = "w", .policy = "fifo", .mechanism = "burstable-spread"};
  const std::string both = ToJson(std::vector{run, baseline});
  const std::string of_run = both.substr(0, both.find('\n'));
  const std::string of_baseline = both.substr(both.find('\n'));
  for (const std::string figure :
       {"promises", "promise_error_p50", "promise_error_p90", "trials", "lost_gpu_hours",
        "work_per_gpu_second", "packs_tried", "moves", "moves_in_vain", "moves_lost_gpu_hours"}) {
    EXPECT_THAT(of_run, HasSubstr('"' + figure + "\":0")) << figure;
    EXPECT_THAT(of_baseline, HasSubstr('"' + figure + "\":null")) << figure;
  }
  EXPECT_THAT(ToJson(std::vector{baseline}), Not(HasSubstr("promises")));
}

TEST(ReportTest, TheTableOfMovesIsThereIfJobsMayMove) {
  RunResult run{.workload = "w", .policy = "fifo", .mechanism = "synergy"};
  EXPECT_THAT(ToTable(std::vector{run}), Not(HasSubstr("in vain")));
  run.moves = MoveFigures{.moves = 7, .in_vain = 1, .gpu_time_lost = Seconds(5400)};
  EXPECT_THAT(ToTable(std::vector{run}), ContainsRegex("synergy +7 +1 +1.50"));
}

TEST(ReportTest, ARunThatMeasuresNoJobHasNoTimes) {
  RunResult empty{.workload = "w", .policy = "fifo", .mechanism = "synergy"};
  empty.statistics.unfinished = 2;
  empty.never_placed = {1, 7};
  EXPECT_THAT(ToTable(std::vector{empty}), ContainsRegex("synergy +0 +- +- "));
  EXPECT_THAT(ToJson(std::vector{empty}), HasSubstr("\"mean_jct_hours\":null"));
  const auto none = CheckMeasured(std::vector{empty});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(none.error().message,
              HasSubstr("job 1, job 7 never got their GPUs, because no server has as much CPU"));
  RunResult measured = empty;
  measured.statistics.measured = 1;
  EXPECT_TRUE(CheckMeasured(std::vector{empty, measured}));
  empty.has_starting_pods = true;
  EXPECT_THAT(LeftOutWarnings(std::vector{empty}), HasSubstr("pods that run forever have them\n"));
}

TEST(ReportTest, JsonHasTheReportOfTheImport) {
  const RunResult run{.workload = "w", .reading = "read as Slurm sacct: 1 job"};
  EXPECT_THAT(ToJson(std::vector{run}), HasSubstr("\"import\":\"read as Slurm sacct: 1 job\"}"));
}

TEST(ReportTest, CsvHasAnEmptyFieldWhereARunHasNoFigure) {
  RunResult run;
  run.statistics.measured = 1;
  run.has_reservations = true;
  const std::string csv = ToCsv(std::vector{run, RunResult{}});
  EXPECT_THAT(csv, HasSubstr("promises,promise_error_p50,promise_error_p90,wall_seconds"));
  EXPECT_THAT(csv, HasSubstr(",0,0,0,0,0\n"));
  EXPECT_THAT(csv, HasSubstr(",,,,0,0\n"));
}

}  // namespace
}  // namespace synergy::cli::testing
