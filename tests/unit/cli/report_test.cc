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

TEST(ReportTest, CsvHasAnEmptyFieldWhereARunHasNoFigure) {
  RunResult run;
  run.has_reservations = true;
  const std::string csv = ToCsv(std::vector{run, RunResult{}});
  EXPECT_THAT(csv, HasSubstr("promises,promise_error_p50,promise_error_p90,wall_seconds"));
  EXPECT_THAT(csv, HasSubstr(",0,0,0,0,0\n"));
  EXPECT_THAT(csv, HasSubstr(",,,,0,0\n"));
}

}  // namespace
}  // namespace synergy::cli::testing
