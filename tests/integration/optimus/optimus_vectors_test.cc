// Tests the inputs in tests/data/optimus: curves have to agree within 1 %, and numbers of workers
// exactly.

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/text_file.h"
#include "json/document.h"
#include "optimus/loss_curve.h"
#include "optimus/marginal_gain.h"
#include "optimus/speed_curve.h"

namespace synergy::testing {
namespace {

using json::Value;
using ::testing::ElementsAreArray;

constexpr double kTolerance = 0.01;

double Figure(Value value) {
  double number = NAN;
  std::from_chars(value.text().data(), value.text().data() + value.text().size(), number);
  return number;
}

std::vector<double> Figures(Value list) {
  std::vector<double> figures;
  list.ForEachElement([&](Value value) { figures.push_back(Figure(value)); });
  return figures;
}

// Returns the amounts in the order in which the authors' program compares them.
std::vector<double> Amounts(Value task) {
  std::vector<double> amounts;
  for (const char* resource : {"cpu", "mem", "bw", "gpu"}) {
    amounts.push_back(task[resource].missing() ? 0 : Figure(task[resource]));
  }
  return amounts;
}

SpeedForm FormOf(Value one) {
  return one["mode"].text() == "sync" ? SpeedForm::kSynchronous : SpeedForm::kAsynchronous;
}

void ExpectNear(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], kTolerance * std::abs(expected[i])) << "factor " << i;
  }
}

void CompareLoss(Value one) {
  const std::vector<double> epochs = Figures(one["epochs"]);
  const std::vector<double> losses = Figures(one["losses"]);
  std::vector<LossPoint> points;
  for (size_t i = 0; i < epochs.size(); ++i) points.push_back({epochs[i], losses[i]});
  EXPECT_THAT(WithoutOutliers(points), ElementsAreArray(points));
  const auto curve = FitLoss(points);
  ASSERT_TRUE(curve);
  ExpectNear({curve->a, curve->b, curve->c}, Figures(one["fit"]));
  ExpectNear({curve->At(2.0 * static_cast<double>(epochs.size()))},
             {Figure(one["predict_epoch_2n"])});
}

void CompareSpeed(Value one) {
  std::vector<SpeedPoint> points;
  one["points"].ForEachElement([&](Value point) {
    const std::vector<double> figures = Figures(point);
    points.push_back({{static_cast<int>(figures[0]), static_cast<int>(figures[1])}, figures[2]});
  });
  const auto curve = FitSpeed(FormOf(one), Figure(one["total_batch"]), points);
  ASSERT_TRUE(curve);
  ExpectNear(curve->factors, Figures(one["fit"]));
  std::vector<double> predicted;
  for (const int tasks : {1, 3, 6, 12}) predicted.push_back(curve->At({tasks, tasks}));
  ExpectNear(predicted, Figures(one["predict_ps_eq_w_1_3_6_12"]));
}

void CompareGains(Value one) {
  std::vector<ElasticJob> jobs;
  one["jobs"].ForEachElement([&](Value job) {
    jobs.push_back({.work_left = Figure(job["rem_epochs"]),
                    .speed = SpeedCurve{.form = FormOf(job),
                                        .batch = Figure(job["batch"]),
                                        .factors = Figures(job["theta"])},
                    .worker = Amounts(job["worker"]),
                    .server = Amounts(job["ps"]),
                    .least_workers = 1,
                    .most_workers = 1000});
  });
  std::vector<Tasks> expected;
  one["result"].ForEachElement([&](Value tasks) {
    const std::vector<double> figures = Figures(tasks);
    expected.push_back({static_cast<int>(figures[0]), static_cast<int>(figures[1])});
  });
  EXPECT_EQ(ServeGains(jobs, Amounts(one["capacity"])), expected);
}

TEST(OptimusVectors, EqualThoseOfTheAuthors) {
  const Result<std::string> text =
      config::ReadTextFile(std::string(SYNERGY_TEST_DATA) + "/optimus/optimus.json");
  ASSERT_TRUE(text) << text.error().message;
  const Result<json::Document> document = json::Document::Parse(*text);
  ASSERT_TRUE(document) << document.error().message;
  size_t compared = 0;
  const auto each = [&](std::string_view name, void (*compare)(Value)) {
    document->root()[name].ForEachElement([&](Value one) {
      SCOPED_TRACE(fmt::format("{}, seed {}", name, one["seed"].text()));
      compare(one);
      ++compared;
    });
  };
  each("loss_fit", CompareLoss);
  each("speed_fit", CompareSpeed);
  each("marginal_gain", CompareGains);
  EXPECT_EQ(compared, 18U);
}

}  // namespace
}  // namespace synergy::testing
