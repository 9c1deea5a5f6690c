#include "research/reference/reference_simulator.h"

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/simulate/model_facts_file.h"
#include "sim/csv.h"
#include "sim/statistics.h"
#include "sim/trace.h"

namespace synergy::testing {
namespace {

const std::string kFolder = SYNERGY_TEST_DATA "/synergy/";

std::string ReadFile(const std::string& name) {
  const std::ifstream in(kFolder + name);
  EXPECT_TRUE(in) << name;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

template <class T>
T Must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return *std::move(result);
}

// A table, with its text.
class Table {
 public:
  explicit Table(const std::string& file)
      : text_(ReadFile(file)), table_(Must(CsvTable::Parse(text_, file))) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  size_t rows() const { return table_.rows(); }
  CsvTable::Field At(size_t row, std::string_view column) const {
    return table_.At(row, Must(table_.Need(column)));
  }
  std::string Text(size_t row, std::string_view column) const {
    return std::string(At(row, column).text);
  }
  double Number(size_t row, std::string_view column) const {
    return Must(At(row, column).Number(0));
  }

 private:
  std::string text_;
  CsvTable table_;
};

class ReferenceRunsTest : public ::testing::Test {
 protected:
  const std::vector<TraceJob>& Trace(const std::string& name) {
    std::vector<TraceJob>& jobs = traces_[name];
    if (!jobs.empty()) return jobs;
    if (name == "single_1000job") {
      jobs = Trace("single_6925job");
      jobs.resize(1000);
    } else {
      const std::string file = (name == "static_100job" ? "" : "reference/") + name + ".csv";
      jobs = Must(ParseTrace(ReadFile(file), file));
    }
    return jobs;
  }

  // Returns our options for the run in this row of results_.
  ReferenceOptions OptionsOf(size_t row) const {
    ReferenceOptions options;
    options.servers = Must(results_.At(row, "servers").WholeNumber(1));
    options.policy = Must(ParseReferencePolicy(results_.Text(row, "policy")));
    std::string mechanism = results_.Text(row, "mechanism");
    options.consolidate = mechanism.starts_with("place+");
    if (options.consolidate) mechanism = mechanism.substr(6);
    options.mechanism = Must(ParseReferenceMechanism(mechanism));
    options.window = Must(ParseJobWindow(results_.Text(row, "window")));
    return options;
  }

  void ExpectFinishes(const ReferenceRun& run, size_t row) const {
    const Table finishes("reference/finishes/" + results_.Text(row, "trace") + ".csv");
    const std::string column =
        fmt::format("{}/{}/{}", results_.Text(row, "servers"), results_.Text(row, "policy"),
                    results_.Text(row, "mechanism"));
    ASSERT_EQ(run.jobs.size(), finishes.rows());
    size_t wrong = 0;
    for (size_t i = 0; i < run.jobs.size(); ++i) {
      const std::string expected = finishes.Text(i, column);
      const auto& finished = run.jobs[i].finished;
      const std::string ours = finished ? fmt::format("{:g}", finished->count()) : "";
      const bool is_same = finished && !expected.empty()
                               ? finished->count() == finishes.Number(i, column)
                               : ours == expected;
      if (!is_same && ++wrong == 1)
        ADD_FAILURE() << "job " << i << " finished at \"" << ours << "\", not \"" << expected
                      << "\"";
    }
    EXPECT_EQ(wrong, 0U) << "jobs";
  }

  void ExpectStatistics(const ReferenceRun& run, const JobWindow& window, size_t row) const {
    const RunStatistics statistics = Summarize(run.jobs, window);
    EXPECT_EQ(static_cast<int64_t>(statistics.measured), window.end - window.first);
    const std::pair<const char*, Seconds> hours[] = {
        {"mean_jct_h", statistics.mean},
        {"median_jct_h", statistics.p50},
        {"p95_jct_h", statistics.p95},
        {"p99_jct_h", statistics.p99},
        {"p999_jct_h", statistics.p999},
        {"makespan_h", statistics.makespan},
        {"mean_wait_to_first_start_h", statistics.mean_wait}};
    for (const auto& [column, ours] : hours)
      EXPECT_NEAR(ours.count() / 3600, results_.Number(row, column), 0.000051) << column;
    EXPECT_EQ(static_cast<double>(run.rounds), results_.Number(row, "rounds"));
    EXPECT_NEAR(run.mean_gpus * 100, results_.Number(row, "mean_gpu_alloc_pct"), 0.0051);
    EXPECT_NEAR(run.mean_cpu * 100, results_.Number(row, "mean_cpu_alloc_pct"), 0.0051);
    EXPECT_NEAR(run.mean_memory * 100, results_.Number(row, "mean_mem_alloc_pct"), 0.0051);
  }

  const Table results_{"reference/results.csv"};
  const ModelFacts facts_ =
      Must(cli::LoadModelFacts(kFolder + "reference/profiles.json", ReferenceOptions{}.server));

 private:
  std::map<std::string, std::vector<TraceJob>> traces_;
};

// Returns whether runs are the same. If a solver chooses among equal choices, only their means are.
bool IsReproduced(const std::string& mechanism) { return mechanism != "opt"; }

TEST_F(ReferenceRunsTest, EveryJobOfEveryRunFinishesWhenTheAuthorsProgramHasItFinish) {
  size_t runs = 0;
  for (size_t row = 0; row < results_.rows(); ++row) {
    if (!IsReproduced(results_.Text(row, "mechanism"))) continue;
    SCOPED_TRACE(fmt::format("{} on {} servers, {}, {}", results_.Text(row, "trace"),
                             results_.Text(row, "servers"), results_.Text(row, "policy"),
                             results_.Text(row, "mechanism")));
    const ReferenceOptions options = OptionsOf(row);
    const ReferenceRun run =
        Must(SimulateReference(Trace(results_.Text(row, "trace")), facts_, options));
    ExpectFinishes(run, row);
    ExpectStatistics(run, *options.window, row);
    ++runs;
  }
  EXPECT_EQ(runs, 67U);
}

TEST_F(ReferenceRunsTest, TheMeanCompletionTimeWithTheSolverIsTheAuthorsToOnePercent) {
  size_t runs = 0;
  for (size_t row = 0; row < results_.rows(); ++row) {
    if (IsReproduced(results_.Text(row, "mechanism"))) continue;
    SCOPED_TRACE(fmt::format("{} on {} servers, {}", results_.Text(row, "trace"),
                             results_.Text(row, "servers"), results_.Text(row, "policy")));
    const ReferenceOptions options = OptionsOf(row);
    const ReferenceRun run =
        Must(SimulateReference(Trace(results_.Text(row, "trace")), facts_, options));
    const RunStatistics statistics = Summarize(run.jobs, *options.window);
    EXPECT_EQ(static_cast<int64_t>(statistics.measured),
              options.window->end - options.window->first);
    const double expected = results_.Number(row, "mean_jct_h");
    EXPECT_NEAR(statistics.mean.count() / 3600, expected, expected * 0.01);
    ++runs;
  }
  EXPECT_EQ(runs, 3U);
}

TEST_F(ReferenceRunsTest, ThePublishedFigureOfTheArtifactCheckComesOutToTheLastDigit) {
  ReferenceOptions options;
  options.window = JobWindow{4000, 5000};
  const ReferenceRun run = Must(SimulateReference(Trace("single_6925job"), facts_, options));
  const RunStatistics statistics = Summarize(run.jobs, *options.window);
  EXPECT_EQ(statistics.mean.count() / 3600, 21.876600555555555);
  EXPECT_EQ(statistics.p99.count() / 3600, 156.93307777777775);
  EXPECT_EQ(run.rounds, 8459);
}

}  // namespace
}  // namespace synergy::testing
