#include "cli/simulate/plan/plan.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "cli/text/terminal.h"
#include "json/text.h"

namespace synergy::cli {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kHoursPerMonth = 730;

Result<PlanPoint> PointAt(const SimulatePoint& simulate, const std::string& mechanism,
                          int64_t servers, int64_t cpus, uint64_t seed) {
  PlanPoint point{.mechanism = mechanism, .servers = servers, .cpus = cpus, .seed = seed};
  if (auto done = simulate(point); !done) return Fail(done.error());
  return point;
}

Result<std::optional<PlanPoint>> FewestServers(const PlanQuestion& question, const Plan& plan,
                                               const SimulatePoint& simulate) {
  if (plan.with.p95_wait > plan.baseline.p95_wait) return std::nullopt;
  PlanPoint fewest = plan.with;
  // Fewer servers have no room for the largest job.
  int64_t least = std::max<int64_t>((question.largest_job + question.gpus - 1) / question.gpus, 1);
  while (least < fewest.servers) {
    const int64_t middle = least + (fewest.servers - least) / 2;
    auto point = PointAt(simulate, question.with, middle, question.cpus, question.seeds.front());
    if (!point) return Fail(point.error());
    if (point->p95_wait <= plan.baseline.p95_wait && point->jobs >= plan.baseline.jobs) {
      fewest = *point;
    } else {
      least = middle + 1;
    }
  }
  return fewest;
}

Result<std::vector<PlanPoint>> OtherRatios(const PlanQuestion& question, const Plan& plan,
                                           const SimulatePoint& simulate) {
  constexpr std::array<double, 5> kFactors = {0.5, 0.75, 1, 1.5, 2};
  std::vector<PlanPoint> ratios;
  for (const double factor : kFactors) {
    const auto cpus =
        static_cast<int64_t>(std::lround(factor * static_cast<double>(question.cpus)));
    const double ratio = static_cast<double>(cpus) / static_cast<double>(question.gpus);
    if (ratio < question.least_cpus_per_gpu) continue;
    if (cpus == question.cpus) {
      ratios.push_back(plan.with);
      continue;
    }
    auto point = PointAt(simulate, question.with, question.servers, cpus, question.seeds.front());
    if (!point) return Fail(point.error());
    ratios.push_back(*point);
  }
  return ratios;
}

double GainOf(const PlanPoint& baseline, const PlanPoint& with) {
  return with.mean > Seconds(0) ? baseline.mean / with.mean : 1;
}

std::string HoursOf(Seconds time) { return fmt::format("{:.3f}", time.count() / kSecondsPerHour); }

std::string RatioOf(const Plan& plan, const PlanPoint& point) {
  return fmt::format("{:g}{}", static_cast<double>(point.cpus) / static_cast<double>(plan.gpus),
                     point.extrapolated ? "*" : "");
}

std::vector<std::string> RowOf(const Plan& plan, const PlanPoint& point,
                               std::optional<double> price) {
  std::vector<std::string> row{point.mechanism,
                               fmt::format("{}", point.servers),
                               fmt::format("{}", point.servers * plan.gpus),
                               RatioOf(plan, point),
                               fmt::format("{}", point.jobs),
                               HoursOf(point.mean),
                               HoursOf(point.p95),
                               HoursOf(point.p95_wait),
                               fmt::format("{:.1f}", point.gpu_hours)};
  if (price) row.push_back(fmt::format("{:.2f}", point.gpu_hours * *price));
  return row;
}

// Returns what the mechanism gains, with one sentence per answer.
std::string AnswersOf(const Plan& plan, std::optional<double> price) {
  std::string text =
      fmt::format("{}: the mean under {} is {:.2f} times as long as under {}", plan.workload,
                  plan.baseline.mechanism, plan.gains.front(), plan.with.mechanism);
  if (plan.gains.size() > 1) {
    const auto [least, most] = std::minmax_element(plan.gains.begin(), plan.gains.end());
    text += fmt::format(" ({:.2f} to {:.2f} over {} seeds of the models)", *least, *most,
                        plan.gains.size());
  }
  if (plan.GpusFewer() == 0) {
    return text + fmt::format("\nfor the same p95 wait: no fewer servers than {}\n",
                              plan.baseline.servers);
  }
  text += fmt::format("\nfor the same p95 wait: {} instead of {} servers, {} GPUs fewer",
                      plan.fewest->servers, plan.baseline.servers, plan.GpusFewer());
  if (price) {
    text += fmt::format(", {:.2f} a month",
                        static_cast<double>(plan.GpusFewer()) * *price * kHoursPerMonth);
  }
  return text + "\n";
}

std::string JsonOf(const Plan& plan, const PlanPoint& point, std::optional<double> price) {
  std::string text = "{\"mechanism\":";
  json::AppendJsonString(text, point.mechanism);
  text += fmt::format(
      ",\"servers\":{},\"gpus\":{},\"cpus_per_gpu\":{},\"extrapolated\":{},\"jobs\":{},"
      "\"mean_jct_hours\":{},\"p95_jct_hours\":{},\"p95_wait_hours\":{},\"gpu_hours\":{}",
      point.servers, point.servers * plan.gpus,
      static_cast<double>(point.cpus) / static_cast<double>(plan.gpus), point.extrapolated,
      point.jobs, point.mean.count() / kSecondsPerHour, point.p95.count() / kSecondsPerHour,
      point.p95_wait.count() / kSecondsPerHour, point.gpu_hours);
  if (price) text += fmt::format(",\"cost\":{}", point.gpu_hours * *price);
  return text + "}";
}

}  // namespace

Result<Plan> MakePlan(const PlanQuestion& question, const SimulatePoint& simulate) {
  Plan plan{.gpus = question.gpus};
  for (const uint64_t seed : question.seeds) {
    auto baseline = PointAt(simulate, question.baseline, question.servers, question.cpus, seed);
    if (!baseline) return Fail(baseline.error());
    auto with = PointAt(simulate, question.with, question.servers, question.cpus, seed);
    if (!with) return Fail(with.error());
    if (plan.gains.empty()) {
      plan.baseline = *baseline;
      plan.with = *with;
    }
    plan.gains.push_back(GainOf(*baseline, *with));
  }
  auto fewest = FewestServers(question, plan, simulate);
  if (!fewest) return Fail(fewest.error());
  plan.fewest = *std::move(fewest);
  auto ratios = OtherRatios(question, plan, simulate);
  if (!ratios) return Fail(ratios.error());
  plan.ratios = *std::move(ratios);
  return plan;
}

std::string ToPlanTable(const Plan& plan, std::optional<double> price) {
  std::vector<std::string> head{"mechanism", "servers", "GPUs",       "CPUs/GPU", "jobs",
                                "mean h",    "p95 h",   "p95 wait h", "GPU hours"};
  if (price) head.emplace_back("cost");
  std::vector<std::vector<std::string>> rows{head, RowOf(plan, plan.baseline, price),
                                             RowOf(plan, plan.with, price)};
  if (plan.fewest && plan.fewest->servers < plan.with.servers)
    rows.push_back(RowOf(plan, *plan.fewest, price));
  std::vector<std::vector<std::string>> ratios{head};
  for (const PlanPoint& point : plan.ratios) ratios.push_back(RowOf(plan, point, price));
  std::string text = AnswersOf(plan, price) + "\n" + FormatTable(rows) +
                     "\nwith other CPUs per GPU:\n" + FormatTable(ratios);
  const bool marked = std::any_of(plan.ratios.begin(), plan.ratios.end(),
                                  [](const PlanPoint& point) { return point.extrapolated; });
  if (marked) text += "* more than was measured: as fast as with the most that was\n";
  return text;
}

std::string ToPlanJson(std::span<const Plan> plans, std::optional<double> price) {
  std::string text = plans.size() == 1 ? "" : "[";
  for (const Plan& plan : plans) {
    text += &plan == plans.data() ? "{\"workload\":" : ",\n{\"workload\":";
    json::AppendJsonString(text, plan.workload);
    text += ",\"baseline\":" + JsonOf(plan, plan.baseline, price);
    text += ",\"with\":" + JsonOf(plan, plan.with, price);
    const auto [least, most] = std::minmax_element(plan.gains.begin(), plan.gains.end());
    text += fmt::format(",\"gain\":{},\"gain_least\":{},\"gain_most\":{},\"seeds\":{}",
                        plan.gains.front(), *least, *most, plan.gains.size());
    text += ",\"same_p95_wait\":";
    text += plan.fewest ? JsonOf(plan, *plan.fewest, price) : std::string("null");
    text += fmt::format(",\"gpus_fewer\":{}", plan.GpusFewer());
    if (price) {
      text += fmt::format(",\"saved_per_month\":{}",
                          static_cast<double>(plan.GpusFewer()) * *price * kHoursPerMonth);
    }
    text += ",\"ratios\":[";
    for (const PlanPoint& point : plan.ratios) {
      if (&point != plan.ratios.data()) text += ',';
      text += JsonOf(plan, point, price);
    }
    text += "]}";
  }
  return text + (plans.size() == 1 ? "\n" : "]\n");
}

}  // namespace synergy::cli
