// Compares, round by round, with runs of the authors' simulator. Given their allocations and the
// time that jobs had, priorities, deficits and picks have to be the same.

#include "gavel/round_mechanism.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/text_file.h"
#include "json/document.h"

namespace synergy::testing {
namespace {

using json::Value;
using ::testing::UnorderedElementsAreArray;

constexpr std::string_view kTypes[] = {"v100", "p100", "k80"};  // fastest first
constexpr double kRound = 360;
double Parsed(Value value) {
  double number = NAN;
  std::from_chars(value.text().data(), value.text().data() + value.text().size(), number);
  return number;
}

std::vector<double> ByType(Value row) {
  std::vector<double> figures;
  for (const std::string_view type : kTypes) figures.push_back(Parsed(row[type]));
  return figures;
}

size_t TypeOf(std::string_view name) {
  return static_cast<size_t>(std::find(std::begin(kTypes), std::end(kTypes), name) -
                             std::begin(kTypes));
}

GavelPick PickOf(Value pick) {
  std::vector<std::string> parts;
  pick.ForEachElement([&](Value part) { parts.emplace_back(part.text()); });
  return {parts[0], TypeOf(parts[1])};
}

// Replays one run.
class Replayed {
 public:
  explicit Replayed(Value run)
      : run_(run),
        rounds_(ByType(run["cluster_spec"]),
                {.fifo = run["policy"].text() == "fifo_perf", .newcomers = GavelNewcomers::kIdle}) {
  }

  void Compare() {
    run_["rounds"].ForEachElement([&](Value round) {
      SCOPED_TRACE(fmt::format("time {}", round["time"].text()));
      if (round["solved"].truth()) ChargeLastPicks();
      BringUpToDate(round);
      ComparePriorities(round);
      if (!run_["types_shuffled"].truth()) ComparePicks(round);
      last_ = round;
    });
  }

 private:
  // A solve resets the times, so the times of the last round can only be calculated from its steps.
  void ChargeLastPicks() {
    last_["chosen"].ForEachElement([&](Value pick) {
      const GavelPick charged = PickOf(pick);
      const double rate = Parsed(run_["jobs"][charged.job]["throughput"][kTypes[charged.type]]);
      const double left = Parsed(last_["remaining_steps"][charged.job]);
      rounds_.Charge(charged.job, charged.type, std::min(std::floor(kRound * rate), left) / rate);
    });
  }

  void BringUpToDate(Value round) {
    const bool solved = round["solved"].truth();
    std::map<std::string, std::vector<double>> now;
    round["job_time_so_far"].ForEachMember(
        [&](std::string_view name, Value row) { now[std::string(name)] = ByType(row); });
    // If no current job got this time on a type, a job that has ended got it.
    const std::vector<double> given = ByType(round["worker_time_so_far"]);
    std::vector<double> rest(given.size(), 0);
    for (size_t type = 0; type < rest.size(); ++type) rest[type] = given[type] - given_[type];
    for (const auto& [name, row] : now) {
      const bool is_new = times_.count(name) == 0;
      if (is_new) {
        const Value job = run_["jobs"][name];
        rounds_.Add(name, Parsed(job["gpus"]), ByType(job["throughput"]));
      }
      for (size_t type = 0; !is_new && !solved && type < row.size(); ++type) {
        rounds_.Charge(name, type, row[type] - times_[name][type]);
        rest[type] -= row[type] - times_[name][type];
      }
    }
    for (const auto& [name, before] : times_) {
      if (now.count(name) > 0) continue;
      for (size_t type = 0; !solved && type < rest.size(); ++type) {
        rounds_.Charge(name, type, std::exchange(rest[type], 0));
      }
      rounds_.Remove(name);
    }
    given_ = given;
    times_ = now;
    if (!solved) return;
    std::vector<RoundMechanism::Shares> allocation;
    round["allocation"].ForEachMember([&](std::string_view name, Value row) {
      allocation.push_back({std::string(name), ByType(row)});
    });
    rounds_.Solved(Parsed(round["time"]), allocation);
  }

  void ComparePriorities(Value round) {
    for (const auto& [name, times] : times_) {
      for (size_t type = 0; type < times.size(); ++type) {
        const double wanted = Parsed(round["priorities"][kTypes[type]][name]);
        EXPECT_NEAR(rounds_.Priority(name, type), wanted, 1e-6 * std::max(wanted, 1e-6))
            << name << " on " << kTypes[type];
        EXPECT_NEAR(rounds_.Deficit(name, type), Parsed(round["deficits"][kTypes[type]][name]),
                    1e-6)
            << name << " on " << kTypes[type];
      }
    }
  }

  void ComparePicks(Value round) {
    std::vector<GavelPick> wanted;
    round["chosen"].ForEachElement([&](Value pick) { wanted.push_back(PickOf(pick)); });
    EXPECT_THAT(rounds_.Picks(), UnorderedElementsAreArray(wanted));
  }

  Value run_;
  Value last_;  // the last round
  RoundMechanism rounds_;
  std::map<std::string, std::vector<double>> times_;
  std::vector<double> given_ = {0, 0, 0};
};

TEST(RoundMechanismRuns, EqualThoseOfTheAuthors) {
  const Result<std::string> text =
      config::ReadTextFile(std::string(SYNERGY_TEST_DATA) + "/gavel/round_mechanism.json");
  ASSERT_TRUE(text) << text.error().message;
  const Result<json::Document> document = json::Document::Parse(*text);
  ASSERT_TRUE(document) << document.error().message;
  size_t runs = 0;
  document->root().ForEachElement([&](Value run) {
    SCOPED_TRACE(fmt::format("run {}", runs++));
    Replayed(run).Compare();
  });
  EXPECT_EQ(runs, 6U);
}

}  // namespace
}  // namespace synergy::testing
