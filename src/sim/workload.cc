#include "sim/workload.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace synergy {
namespace {

constexpr size_t kClasses = 3;
const std::array<std::vector<std::string_view>, kClasses> kModels = {{
    {"alexnet", "res18", "res50", "mobilenet", "shufflenet"},
    {"gnmt", "transformer", "lstm"},
    {"m5", "deepspeech"},
}};

constexpr int64_t kMostJobs = 10'000'000;
constexpr double kMostWeight = 1e9;

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Number>
std::optional<Number> Parse(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

tl::unexpected<Error> Wrong(std::string_view key, std::string_view value, std::string_view what) {
  return Fail(ErrorCode::kInvalid,
              fmt::format("workload: {} is \"{}\": expected {}", key, value, what));
}

Result<> ReadGpus(std::string_view value, WorkloadOptions& options) {
  options.gpus.clear();
  if (value == "philly") {
    options.gpus = {{1, 70}, {2, 10}, {4, 15}, {8, 5}};
    return {};
  }
  for (const std::string_view part : Split(value, ':')) {
    const auto fields = Split(part, 'x');
    const auto gpus = Parse<int64_t>(fields[0]);
    const auto weight = fields.size() > 1 ? Parse<double>(fields[1]) : std::optional(1.0);
    if (fields.size() > 2 || !gpus || *gpus < 1 || *gpus > 1024 || !weight || !(*weight > 0) ||
        *weight > kMostWeight) {
      return Wrong("gpus", value, "philly, a number, or numbers with weights as 1x70:2x10");
    }
    options.gpus.emplace_back(*gpus, *weight);
  }
  return {};
}

Result<> ReadSplit(std::string_view value, WorkloadOptions& options) {
  const auto parts = Split(value, ':');
  int sum = 0;
  for (size_t at = 0; at < kClasses && parts.size() == kClasses; ++at) {
    const auto percent = Parse<int>(parts[at]);
    options.split.at(at) = percent.value_or(-1);
    const bool is_percent = options.split.at(at) >= 0 && options.split.at(at) <= 100;
    sum += is_percent ? options.split.at(at) : -1000;
  }
  if (sum != 100) {
    return Wrong("split", value, "image:language:speech in percent, together 100, as 20:70:10");
  }
  return {};
}

Result<> ReadPart(std::string_view key, std::string_view value, WorkloadOptions& options) {
  if (key == "rate") {
    const auto rate =
        value.ends_with("/h") ? Parse<double>(value.substr(0, value.size() - 2)) : std::nullopt;
    if (!rate || !(*rate > 0) || *rate > 1e6) return Wrong(key, value, "jobs per hour, as 9/h");
    options.jobs_per_hour = *rate;
    return {};
  }
  if (key == "split") return ReadSplit(value, options);
  if (key == "gpus") return ReadGpus(value, options);
  if (key == "jobs") {
    options.jobs = Parse<int64_t>(value).value_or(0);
    if (options.jobs < 1 || options.jobs > kMostJobs) {
      return Wrong(key, value, fmt::format("a number from 1 to {}", kMostJobs));
    }
    return {};
  }
  if (key == "seed") {
    const auto seed = Parse<uint64_t>(value);
    if (!seed) return Wrong(key, value, "a whole number from 0");
    options.seed = *seed;
    return {};
  }
  return Fail(ErrorCode::kInvalid,
              fmt::format("workload: unknown \"{}\": use rate, split, gpus, jobs and seed", key));
}

// Returns the class that is furthest below its proportion; the first on a tie.
size_t NextClass(const std::array<int, kClasses>& split,
                 const std::array<int64_t, kClasses>& counts) {
  int64_t all = 1;
  for (const int64_t count : counts) all += count;
  size_t next = 0;
  double furthest = -1e300;
  for (size_t at = 0; at < kClasses; ++at) {
    const double behind =
        split.at(at) * static_cast<double>(all) / 100 - static_cast<double>(counts.at(at));
    if (split.at(at) > 0 && behind > furthest + 1e-9) {
      next = at;
      furthest = behind;
    }
  }
  return next;
}

}  // namespace

std::string_view ModelSequence::Next() {
  const size_t of_class = NextClass(split_, counts_);
  const auto& models = kModels.at(of_class);
  return models[static_cast<size_t>(counts_.at(of_class)++) % models.size()];
}

bool HasModelsOf(const std::array<int, 3>& split, const ModelFacts& facts) {
  for (size_t of_class = 0; of_class < kClasses; ++of_class) {
    for (const std::string_view model : kModels.at(of_class)) {
      if (split.at(of_class) > 0 && !facts.Knows(std::string(model))) return false;
    }
  }
  return true;
}

std::string_view DrawModel(const std::array<int, 3>& split, Random& random) {
  auto percent = static_cast<int>(random.Below(100));
  size_t of_class = 0;
  while (of_class + 1 < kClasses && percent >= split.at(of_class)) percent -= split.at(of_class++);
  const auto& models = kModels.at(of_class);
  return models[random.Below(models.size())];
}

Result<WorkloadOptions> ParseWorkloadOptions(std::string_view text) {
  WorkloadOptions options;
  if (text.empty()) return options;
  for (const std::string_view part : Split(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("workload: \"{}\" is not of the form name=value", part));
    }
    const auto read = ReadPart(part.substr(0, equals), part.substr(equals + 1), options);
    if (!read) return Fail(read.error());
  }
  return options;
}

int64_t DrawGpus(const WorkloadOptions& options, Random& random) {
  double weights = 0;
  for (const auto& [gpus, weight] : options.gpus) weights += weight;
  double at = random.Uniform() * weights;
  for (const auto& [gpus, weight] : options.gpus) {
    at -= weight;
    if (at < 0) return gpus;
  }
  return options.gpus.back().first;
}

Result<std::vector<TraceJob>> GenerateWorkload(const WorkloadOptions& options,
                                               const ModelFacts& facts) {
  Random random(options.seed);
  ModelSequence models(options.split);
  const bool has_split = HasModelsOf(options.split, facts);
  const std::vector<std::string> known = facts.Models();
  if (known.empty()) return Fail(ErrorCode::kInvalid, "workload: the profiles have no model");
  std::vector<TraceJob> jobs;
  jobs.reserve(static_cast<size_t>(options.jobs));
  double arrival = 0;
  for (int64_t id = 0; id < options.jobs; ++id) {
    arrival += std::ceil(-std::log(1 - random.Uniform()) / options.jobs_per_hour * 3600);
    const std::string model =
        has_split ? std::string(models.Next()) : known[static_cast<size_t>(id) % known.size()];
    const Seconds iteration_time = facts.IterationTimeOf(model);
    const bool is_long = random.Uniform() >= 0.8;
    const double exponent = is_long ? 3 + random.Uniform() : 1.5 + 1.5 * random.Uniform();
    const double iterations =
        std::max(std::floor(60 * std::pow(10, exponent) / iteration_time.count()), 1.0);
    jobs.push_back({.id = id,
                    .model = model,
                    .arrival = Seconds(arrival),
                    .total_iterations = static_cast<int64_t>(iterations),
                    .gpus = Gpus(DrawGpus(options, random)),
                    .iteration_time = iteration_time,
                    .duration = iteration_time * iterations});
  }
  return jobs;
}

std::string ToTraceCsv(std::span<const TraceJob> jobs) {
  const bool has_priorities =
      std::any_of(jobs.begin(), jobs.end(), [](const TraceJob& job) { return job.priority != 0; });
  std::string text =
      "job_id,model,arrival_s,total_iterations,gpus,iter_time_s_at_fair,duration_s_at_fair";
  text += has_priorities ? ",priority\n" : "\n";
  for (const TraceJob& job : jobs) {
    text += fmt::format("{},{},{},{},{},{},{}", job.id, job.model, job.arrival.count(),
                        job.total_iterations, job.gpus.count(), job.iteration_time.count(),
                        job.duration.count());
    text += has_priorities ? fmt::format(",{}\n", job.priority) : "\n";
  }
  return text;
}

}  // namespace synergy
