#include "research/tiresias/tiresias_simulator.h"

#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "research/tiresias/tiresias_gittins.h"
#include "research/tiresias/tiresias_input.h"
#include "sim/csv.h"

namespace synergy::testing {
namespace {

std::string ReadData(const std::string& name) {
  const std::ifstream in(SYNERGY_TEST_DATA "/tiresias/" + name);
  EXPECT_TRUE(in) << name;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<int64_t> Numbers(std::string_view text, char between) {
  std::vector<int64_t> numbers;
  while (!text.empty()) {
    int64_t number = 0;
    const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    EXPECT_EQ(error, std::errc()) << text;
    numbers.push_back(number);
    text.remove_prefix(static_cast<size_t>(stopped - text.data()));
    if (text.starts_with(between)) text.remove_prefix(1);
  }
  return numbers;
}

std::vector<int64_t> History() {
  return *ParseSizeHistory(ReadData("yarn-gput1000.csv"), "yarn-gput1000.csv");
}

struct Recorded {
  std::string trace, cluster, limits, scheme, schedule;

  std::string File() const {
    return trace + "." + cluster + limits + "." + scheme + "." + schedule + ".csv";
  }
};

class TiresiasRunsTest : public ::testing::TestWithParam<Recorded> {};

TEST_P(TiresiasRunsTest, EveryJobStartsAndEndsWhenItDidForTheAuthors) {
  const Recorded& run = GetParam();
  const auto jobs = ParseTiresiasTrace(ReadData(run.trace + ".csv"), run.trace);
  ASSERT_TRUE(jobs) << jobs.error().message;
  TiresiasOptions options{.cluster = *ParseTiresiasCluster(run.cluster),
                          .schedule = *ParseTiresiasSchedule(run.schedule),
                          .scheme = *ParseTiresiasScheme(run.scheme),
                          .queue_limits = {3250, 7200},
                          .sizes = History()};
  if (!run.limits.empty()) {
    const std::vector<int64_t> limits = Numbers(std::string_view(run.limits).substr(1), '_');
    options.queue_limits.assign(limits.begin(), limits.end());
  }
  const auto times = SimulateTiresias(*jobs, options);
  ASSERT_TRUE(times) << times.error().message;

  const std::string text = ReadData(run.File());
  const auto recorded = CsvTable::Parse(text, run.File());
  ASSERT_TRUE(recorded) << recorded.error().message;
  ASSERT_EQ(times->size(), recorded->rows());
  for (size_t row = 0; row < recorded->rows(); ++row) {
    const JobTimes& job = (*times)[row];
    EXPECT_EQ(job.id, *recorded->At(row, 0).WholeNumber(0));
    EXPECT_EQ(job.started, Seconds(*recorded->At(row, 1).Number(0))) << "job " << job.id;
    EXPECT_EQ(job.finished, Seconds(*recorded->At(row, 2).Number(0))) << "job " << job.id;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, TiresiasRunsTest,
    ::testing::Values(Recorded{"60_job", "n2g4", "q500", "count", "dlas-gpu"},
                      Recorded{"60_job", "n2g4", "q500", "count", "dlas-gpu-1"},
                      Recorded{"60_job", "n2g4", "q500", "count", "dlas-gpu-2"},
                      Recorded{"60_job", "n2g4", "q500", "count", "dlas-gpu-gittins"},
                      Recorded{"60_job", "n2g4", "q325_1000", "count", "dlas-gpu"},
                      Recorded{"60_job", "n2g4", "q325_1000", "count", "dlas-gpu-1"},
                      Recorded{"60_job", "n2g4", "q325_1000", "count", "dlas-gpu-2"},
                      Recorded{"60_job", "n2g4", "q325_1000", "count", "dlas-gpu-gittins"},
                      Recorded{"60_job", "n4g4", "", "yarn", "fifo"},
                      Recorded{"60_job", "n4g4", "", "yarn", "shortest"},
                      Recorded{"60_job", "n4g4", "", "yarn", "shortest-gpu"},
                      Recorded{"60_job", "n4g4", "", "yarn", "sjf"},
                      Recorded{"t480_job", "n15g4", "", "count", "dlas-gpu"},
                      Recorded{"t480_job", "n15g4", "", "yarn", "fifo"}));

TEST(TiresiasGittinsTest, IndicesAreThoseOfTheAuthors) {
  const std::string text = ReadData("gittins.csv");
  const auto table = CsvTable::Parse(text, "gittins.csv");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_GT(table->rows(), 40U);
  for (size_t row = 0; row < table->rows(); ++row) {
    const std::string_view sizes = table->At(row, 2).text;
    const TiresiasGittins gittins(sizes.empty() ? History() : Numbers(sizes, ' '),
                                  *table->At(row, 1).WholeNumber(1));
    const auto value = gittins.At(*table->At(row, 3).WholeNumber(0));
    EXPECT_NEAR(value.chance, *table->At(row, 4).Number(0), 1e-9) << "row " << row;
    EXPECT_NEAR(value.cost, *table->At(row, 5).Number(0), 1e-9) << "row " << row;
    EXPECT_NEAR(value.index, *table->At(row, 6).Number(0), 1e-9) << "row " << row;
  }
}

TEST(TiresiasGittinsTest, JobsAreRankedByTheIndexBelowTheNextSample) {
  const TiresiasGittins gittins(History());
  const std::string text = ReadData("gittins_rank.csv");
  const auto table = CsvTable::Parse(text, "gittins_rank.csv");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->rows(), 12U);
  for (size_t row = 0; row < table->rows(); ++row) {
    EXPECT_NEAR(gittins.Rank(*table->At(row, 0).WholeNumber(0)), *table->At(row, 1).Number(0), 1e-9)
        << "row " << row;
  }
}

}  // namespace
}  // namespace synergy::testing
