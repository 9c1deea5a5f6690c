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

// Fewer servers have no room for the largest job.
int64_t LeastServers(const PlanQuestion& question) {
  return std::max<int64_t>((question.largest_job + question.gpus - 1) / question.gpus, 1);
}

// Differences of less than a second are noise from the times of bind and start.
bool KeepsWaits(const PlanPoint& point, const PlanPoint& baseline) {
  return point.p95_wait <= baseline.p95_wait + Seconds(1) && point.jobs >= baseline.jobs;
}

// Steps down from `present`, first by a 32nd of the servers, as long as jobs wait no longer than
// with `baseline`. Waits do not always shrink with more servers, so the search goes no lower than
// the first number that fails.
Result<std::optional<PlanPoint>> FewestServers(const PlanQuestion& question,
                                               const PlanPoint& present, const PlanPoint& baseline,
                                               const SimulatePoint& simulate) {
  if (!KeepsWaits(present, baseline)) return std::nullopt;
  constexpr int64_t kSteps = 32;
  PlanPoint fewest = present;
  int64_t too_few = LeastServers(question) - 1;
  for (int64_t step = (present.servers - too_few - 1) / kSteps + 1; step > 0;) {
    const int64_t servers = fewest.servers - step;
    if (servers > too_few) {
      auto point = PointAt(simulate, present.mechanism, servers, question.cpus, present.seed);
      if (!point) return Fail(point.error());
      if (KeepsWaits(*point, baseline)) {
        fewest = *point;
        continue;
      }
      too_few = servers;
    }
    step /= 2;
  }
  return fewest;
}

// Adds the number of servers that suffice with this seed.
Result<> AddServers(const PlanQuestion& question, const PlanPoint& baseline, const PlanPoint& with,
                    const SimulatePoint& simulate, Plan& plan) {
  auto fewest = FewestServers(question, with, baseline, simulate);
  if (!fewest) return Fail(fewest.error());
  if (plan.enough.empty()) {
    plan.fewest = *fewest;
    auto alone = FewestServers(question, baseline, baseline, simulate);
    if (!alone) return Fail(alone.error());
    plan.baseline_fewest = **alone;
  }
  plan.enough.push_back(*fewest ? (*fewest)->servers : question.servers);
  return {};
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

// Returns text such as " (1.20 to 1.35 over 5 seeds of the models)".
std::string RangeText(const Plan& plan, size_t seeds, const std::string& range) {
  if (!plan.models_drawn) return {};
  return seeds > 1 ? fmt::format(" ({} over {} seeds of the models)", range, seeds)
                   : fmt::format(" (with the models of seed {} alone)", plan.baseline.seed);
}

// Returns a sentence about the mechanism's gain; the mechanism may be slower than the baseline.
std::string GainText(const Plan& plan) {
  constexpr double kSlower = 0.995;
  std::string fast = plan.with.mechanism;
  std::string slow = plan.baseline.mechanism;
  auto [least, most] = std::minmax_element(plan.gains.begin(), plan.gains.end());
  double times = plan.gains.front();
  std::string range = fmt::format("{:.2f} to {:.2f}", *least, *most);
  const bool slower = times < kSlower;
  if (slower) {
    std::swap(fast, slow);
    times = 1 / times;
    range = fmt::format("{:.2f} to {:.2f}", 1 / *most, 1 / *least);
  }
  return fmt::format("{}: {}the mean under {} is {:.2f} times as long as under {}{}", plan.workload,
                     slower ? plan.with.mechanism + " is slower: " : "", slow, times, fast,
                     RangeText(plan, plan.gains.size(), range));
}

std::string ServersText(const Plan& plan, std::optional<double> price) {
  const auto [least, most] = std::minmax_element(plan.enough.begin(), plan.enough.end());
  const std::string range =
      RangeText(plan, plan.enough.size(), fmt::format("{} to {}", *least, *most));
  const int64_t present = plan.baseline.servers;
  std::string text = "for the same p95 wait: ";
  if (!plan.fewest) {
    text += fmt::format("no fewer servers than {}, with which jobs wait longer under {}", present,
                        plan.with.mechanism);
  } else if (plan.GpusFewer() == 0) {
    text += fmt::format("no fewer servers than {}: {}", present,
                        present > plan.least_servers
                            ? fmt::format("with {} jobs wait longer", present - 1)
                            : "the largest job needs them");
  } else {
    text += fmt::format("{} instead of {} servers, {} GPUs fewer", plan.fewest->servers, present,
                        plan.GpusFewer());
    if (price) {
      text += fmt::format(", {:.2f} a month",
                          static_cast<double>(plan.GpusFewer()) * *price * kHoursPerMonth);
    }
  }
  text += range;
  if (plan.baseline_fewest.servers < present) {
    text += fmt::format("\n{} itself needs {} of the {} servers for that", plan.baseline.mechanism,
                        plan.baseline_fewest.servers, present);
  }
  return text + '\n';
}

std::string JsonOf(const Plan& plan, const PlanPoint& point, std::optional<double> price) {
  std::string text = "{\"mechanism\":";
  json::AppendJsonString(text, point.mechanism);
  text += fmt::format(
      ",\"servers\":{},\"gpus\":{},\"cpus_per_gpu\":{},\"extrapolated\":{},\"jobs\":{},"
      "\"left_out\":{},\"mean_jct_hours\":{},\"p95_jct_hours\":{},\"p95_wait_hours\":{},"
      "\"gpu_hours\":{}",
      point.servers, point.servers * plan.gpus,
      static_cast<double>(point.cpus) / static_cast<double>(plan.gpus), point.extrapolated,
      point.jobs, point.left_out, point.mean.count() / kSecondsPerHour,
      point.p95.count() / kSecondsPerHour, point.p95_wait.count() / kSecondsPerHour,
      point.gpu_hours);
  if (price) text += fmt::format(",\"cost\":{}", point.gpu_hours * *price);
  return text + "}";
}

}  // namespace

Result<Plan> MakePlan(const PlanQuestion& question, const SimulatePoint& simulate) {
  Plan plan{.gpus = question.gpus,
            .models_drawn = question.models_drawn,
            .least_servers = LeastServers(question)};
  for (const uint64_t seed : question.seeds) {
    auto baseline = PointAt(simulate, question.baseline, question.servers, question.cpus, seed);
    if (!baseline) return Fail(baseline.error());
    auto with = PointAt(simulate, question.with, question.servers, question.cpus, seed);
    if (!with) return Fail(with.error());
    for (const PlanPoint* point : {&*baseline, &*with}) {
      if (point->jobs > 0) continue;
      return Fail(ErrorCode::kNotFound, fmt::format("no job ends under {}: {}", point->mechanism,
                                                    point->left_out_because));
    }
    if (plan.gains.empty()) {
      plan.baseline = *baseline;
      plan.with = *with;
    }
    plan.gains.push_back(GainOf(*baseline, *with));
    if (plan.enough.size() >= question.seeds_of_servers) continue;
    if (auto added = AddServers(question, *baseline, *with, simulate, plan); !added)
      return Fail(added.error());
  }
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
  if (plan.baseline_fewest.servers < plan.baseline.servers)
    rows.push_back(RowOf(plan, plan.baseline_fewest, price));
  std::vector<std::vector<std::string>> ratios{head};
  for (const PlanPoint& point : plan.ratios) ratios.push_back(RowOf(plan, point, price));
  std::string text = GainText(plan) + '\n' + ServersText(plan, price) + '\n' + FormatTable(rows) +
                     "\nwith other CPUs per GPU:\n" + FormatTable(ratios);
  const bool marked = std::any_of(plan.ratios.begin(), plan.ratios.end(),
                                  [](const PlanPoint& point) { return point.extrapolated; });
  for (const PlanPoint* point : {&plan.baseline, &plan.with}) {
    if (point->left_out == 0) continue;
    text += fmt::format("{} left out under {}: {}\n", point->left_out, point->mechanism,
                        point->left_out_because);
  }
  if (marked) text += "* more than was measured: counted as fast as with the most measured\n";
  return text;
}

std::string ToPlanJson(std::span<const Plan> plans, std::optional<double> price) {
  std::string text = plans.size() == 1 ? "" : "[";
  for (const Plan& plan : plans) {
    text += &plan == plans.data() ? "{\"workload\":" : ",\n{\"workload\":";
    json::AppendJsonString(text, plan.workload);
    if (!plan.reading.empty()) {
      text += ",\"import\":";
      json::AppendJsonString(text, plan.reading);
    }
    text += ",\"baseline\":" + JsonOf(plan, plan.baseline, price);
    text += ",\"with\":" + JsonOf(plan, plan.with, price);
    const auto [least, most] = std::minmax_element(plan.gains.begin(), plan.gains.end());
    text += fmt::format(",\"gain\":{},\"gain_least\":{},\"gain_most\":{},\"seeds\":{}",
                        plan.gains.front(), *least, *most, plan.gains.size());
    text += ",\"same_p95_wait\":";
    text += plan.fewest ? JsonOf(plan, *plan.fewest, price) : std::string("null");
    text += ",\"baseline_same_p95_wait\":" + JsonOf(plan, plan.baseline_fewest, price);
    const auto [fewest, enough] = std::minmax_element(plan.enough.begin(), plan.enough.end());
    text += fmt::format(
        ",\"servers_least\":{},\"servers_most\":{},\"seeds_of_servers\":{},\"gpus_fewer\":{}",
        *fewest, *enough, plan.enough.size(), plan.GpusFewer());
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
