#include "cli/page/page.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RunResult RunNamed(std::string workload) {
  RunResult run;
  run.workload = std::move(workload);
  run.policy = "fifo";
  run.mechanism = "tune";
  run.jobs = {{7, Seconds(1), Seconds(2), std::nullopt}};
  run.job_gpus = {Gpus(1)};
  run.job_models = {"</script><script>alert(1)</script>"};
  run.job_fair_shares = run.job_demands = {{Gpus(1), Cores(1), GiB(1)}};
  return run;
}

std::string PageOf(const std::vector<RunResult>& runs) {
  return SimulationPage(ClusterOf(1, {Gpus(1), Cores(1), GiB(1)}), runs);
}

TEST(PageTest, NothingInTheDataEndsTheirElement) {
  const std::string page = PageOf({RunNamed("a")});
  EXPECT_THAT(page, HasSubstr(R"(\u003c/script>\u003cscript>alert(1)\u003c/script>)"));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
}

TEST(PageTest, RunsAreNamedByWhatTheyDifferIn) {
  EXPECT_THAT(PageOf({RunNamed("a.csv"), RunNamed("a.csv")}), HasSubstr(R"("name":"tune, fifo",)"));
  RunResult loaded = RunNamed("b.csv");
  loaded.load = 1.5;
  EXPECT_THAT(PageOf({RunNamed("a.csv"), loaded}),
              HasSubstr(R"("name":"tune, fifo, load x1.5, b.csv",)"));
}

TEST(PageTest, JobsHaveTheTimesThatAreKnown) {
  EXPECT_THAT(PageOf({RunNamed("a")}),
              HasSubstr(R"("jobs":{"job-7":{"submitted":1,"started":2}})"));
}

}  // namespace
}  // namespace synergy::cli::testing
