#include "research/lab/gavel_input.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "json/document.h"
#include "json/text.h"

namespace synergy::cli {
namespace {

using json::Value;

constexpr double kLargest = 1e15;
constexpr std::string_view kNoJson[] = {"-Infinity", "Infinity", "NaN"};

// Python writes numbers that JSON does not allow. Quotes these, so that they can be read and then
// rejected with the names of their fields.
std::string QuoteOddFigures(std::string_view text) {
  std::string quoted;
  bool in_text = false;
  for (size_t i = 0; i < text.size();) {
    const auto* const odd = std::find_if(
        std::begin(kNoJson), std::end(kNoJson),
        [&](std::string_view word) { return !in_text && text.substr(i, word.size()) == word; });
    if (odd != std::end(kNoJson)) {
      quoted += fmt::format("\"{}\"", *odd);
      i += odd->size();
      continue;
    }
    if (text[i] == '"') in_text = !in_text;
    const size_t size = in_text && text[i] == '\\' && i + 1 < text.size() ? 2 : 1;
    quoted += text.substr(i, size);
    i += size;
  }
  return quoted;
}

// Orders numbers by size, and before words.
std::tuple<bool, double, std::string> OrderOf(const std::string& name) {
  double number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool word = error != std::errc() || end != name.data() + name.size();
  return {word, word ? 0 : number, name};
}

// Reads one problem from the input's fields. A call's own fields take precedence over common ones.
class ProblemReader {
 public:
  ProblemReader(Value root, Value call) : root_(root), call_(call) {}

  Result<GavelProblem> Read() {
    ReadTypes();
    if (ok()) ReadJobs();
    if (ok()) ReadFigures();
    if (ok()) ReadPairs();
    if (ok()) ReadEntities();
    if (!ok()) return Fail(ErrorCode::kInvalid, fault_);
    return std::move(problem_);
  }

 private:
  bool ok() const { return fault_.empty(); }

  // Stores the error, unless there is an earlier one.
  void Report(const std::string& path, std::string_view what) {
    if (ok()) fault_ = fmt::format("{}: {}", path, what);
  }

  Value Field(std::string_view name) const {
    const Value own = call_[name];
    return own.absent() ? root_[name] : own;
  }

  // Returns an object; empty if the field is absent.
  Value Map(std::string_view name) {
    const Value value = Field(name);
    if (value.absent()) return {};
    if (!value.IsObject()) {
      Report(PathOf(value), fmt::format("{} instead of an object", value.DescribeKind()));
      return {};
    }
    return value;
  }

  std::string PathOf(Value value) const { return root_.PathTo(value); }

  std::string PathOf(Value map, std::string_view key) const {
    std::string path = PathOf(map);
    json::AppendPathStep(path, key);
    return path;
  }

  double Number(Value map, std::string_view key, bool may_be_zero) {
    const Value value = map[key];
    if (value.absent()) {
      Report(PathOf(map, key), "missing");
      return 0;
    }
    return Number(value, may_be_zero);
  }

  double Number(Value value, bool may_be_zero) {
    const std::string_view text = value.text();
    if (!value.IsNumber()) {
      Report(PathOf(value), value.IsString()
                                ? fmt::format("{} is not a number", json::Quoted(text))
                                : fmt::format("{} instead of a number", value.DescribeKind()));
      return 0;
    }
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || !std::isfinite(number) || number > kLargest) {
      Report(PathOf(value), fmt::format("{} is out of range", text));
    } else if (number < 0) {
      Report(PathOf(value), fmt::format("{} is negative", text));
    } else if (number == 0 && !may_be_zero) {
      Report(PathOf(value), "0 instead of a number above 0");
    }
    return number;
  }

  void ReadTypes() {
    const Value spec = Map("cluster_spec");
    if (spec.missing()) return Report("cluster_spec", "missing: GPUs per type");
    std::map<std::string, double> gpus;
    spec.ForEachMember(
        [&](std::string_view type, Value value) { gpus[std::string(type)] = Number(value, true); });
    if (gpus.size() > kMostGavelTypes) {
      return Report("cluster_spec", fmt::format("more than {} types", kMostGavelTypes));
    }
    for (const auto& [type, count] : gpus) {
      problem_.types.push_back(type);
      problem_.gpus.push_back(count);
      largest_ = std::max(largest_, count);
    }
    if (largest_ <= 0) Report("cluster_spec", "no type has GPUs");
    const Value costs = Map("instance_costs");
    if (costs.missing()) return;
    for (const std::string& type : problem_.types) {
      problem_.costs.push_back(Number(costs, type, false));
    }
  }

  // Collects the names of all jobs, and of the jobs that count.
  void ReadNames(Value throughputs) {
    throughputs.ForEachMember([&](std::string_view key, Value /*value*/) {
      if (key.find(',') == std::string_view::npos) all_.emplace(key);
    });
    std::vector<std::string> names(all_.begin(), all_.end());
    if (const Value active = call_["active"]; !active.absent()) {
      if (!active.IsArray()) return Report(PathOf(active), "not a list of jobs");
      names.clear();
      active.ForEachElement([&](Value name) {
        if (all_.count(std::string(name.text())) == 0) {
          return Report(PathOf(name), "a job without throughputs");
        }
        names.emplace_back(name.text());
      });
      std::sort(names.begin(), names.end());
      names.erase(std::unique(names.begin(), names.end()), names.end());
    }
    if (names.empty()) return Report("throughputs", "no jobs");
    if (names.size() > kMostGavelJobs) {
      return Report("throughputs", fmt::format("more than {} jobs", kMostGavelJobs));
    }
    std::sort(names.begin(), names.end(),
              [](const std::string& a, const std::string& b) { return OrderOf(a) < OrderOf(b); });
    for (std::string& name : names) {
      index_.emplace(name, problem_.jobs.size());
      problem_.jobs.emplace_back().name = std::move(name);
    }
  }

  void ReadJobs() {
    const Value throughputs = Map("throughputs");
    if (throughputs.missing()) return Report("throughputs", "missing: per job and type");
    ReadNames(throughputs);
    for (GavelJob& job : problem_.jobs) {
      const Value row = throughputs[job.name];
      for (const std::string& type : problem_.types) {
        job.throughput.push_back(Number(row, type, true));
      }
    }
  }

  void ReadFigures() {
    const Value gpus = Map("scale_factors");
    const Value weights = Map("priority_weights");
    const Value steps = Map("num_steps_remaining");
    const Value waited = Map("times_since_start");
    const Value deadlines = Map("SLOs");
    for (GavelJob& job : problem_.jobs) {
      if (!gpus.missing()) job.gpus = Number(gpus, job.name, false);
      if (job.gpus > largest_) {
        Report(PathOf(gpus, job.name),
               fmt::format("{} GPUs, but no type has more than {}", job.gpus, largest_));
      }
      if (!weights.missing()) job.weight = Number(weights, job.name, false);
      if (!steps.missing()) job.steps_left = Number(steps, job.name, true);
      if (!waited.missing()) job.waited = Number(waited, job.name, true);
      if (const Value deadline = deadlines[job.name]; !deadline.absent()) {
        job.deadline = Number(deadline, true);
      }
    }
    deadlines.ForEachMember([&](std::string_view name, Value value) {
      if (all_.count(std::string(name)) == 0) Report(PathOf(value), "of a job without throughputs");
    });
  }

  void ReadPairs() {
    Field("throughputs").ForEachMember([&](std::string_view key, Value row) {
      const size_t comma = key.find(',');
      if (comma == std::string_view::npos) return;
      const std::string names[] = {std::string(key.substr(0, comma)),
                                   std::string(key.substr(comma + 1))};
      if (all_.count(names[0]) == 0 || all_.count(names[1]) == 0 || names[0] == names[1]) {
        return Report(PathOf(row), "not a pair of two jobs with throughputs of their own");
      }
      const auto first = index_.find(names[0]);
      const auto second = index_.find(names[1]);
      if (first == index_.end() || second == index_.end()) return;
      GavelPair pair{.first = first->second, .second = second->second, .throughput = {}};
      for (const std::string& type : problem_.types) {
        const Value both = row[type];
        if (both.absent()) return Report(PathOf(row, type), "missing");
        std::vector<double> numbers;
        both.ForEachElement([&](Value number) { numbers.push_back(Number(number, true)); });
        if (numbers.size() != 2) return Report(PathOf(both), "not a list of two throughputs");
        pair.throughput.push_back({numbers[0], numbers[1]});
      }
      problem_.pairs.push_back(std::move(pair));
    });
  }

  void ReadEntities() {
    const Value entities = Map("entities");
    if (entities.missing()) return;
    std::vector<int> owners(problem_.jobs.size(), 0);
    const Value members = entities["entity_to_jobs"];
    if (!members.IsObject()) return Report(PathOf(entities, "entity_to_jobs"), "not an object");
    members.ForEachMember([&](std::string_view name, Value jobs) {
      GavelEntity entity{.name = std::string(name), .jobs = {}};
      entity.weight = Number(entities["entity_weights"], name, false);
      const Value policy = entities["entity_policies"][name];
      entity.fifo = policy.text() == "fifo";
      if (!entity.fifo && !policy.absent() && policy.text() != "fairness") {
        Report(PathOf(policy),
               fmt::format("{} is neither fairness nor fifo", json::Quoted(policy.text())));
      }
      if (!jobs.IsArray()) return Report(PathOf(jobs), "not a list of jobs");
      jobs.ForEachElement([&](Value job) {
        const auto found = index_.find(std::string(job.text()));
        if (found != index_.end()) {
          ++owners[found->second];
          entity.jobs.push_back(found->second);
        } else if (all_.count(std::string(job.text())) == 0) {
          Report(PathOf(job), "a job without throughputs");
        }
      });
      problem_.entities.push_back(std::move(entity));
    });
    for (size_t job = 0; job < owners.size(); ++job) {
      if (owners[job] == 1) continue;
      Report(PathOf(members), fmt::format("job {} is in {} entities instead of one",
                                          json::Quoted(problem_.jobs[job].name), owners[job]));
    }
  }

  Value root_;
  Value call_;
  std::string fault_;
  double largest_ = 0;  // number of GPUs of the largest type
  std::set<std::string> all_;
  std::map<std::string, size_t> index_;  // name of a job -> its position in the problem
  GavelProblem problem_;
};

}  // namespace

Result<GavelInput> ReadGavelInput(std::string_view json) {
  const Result<json::Document> document = json::Document::Parse(QuoteOddFigures(json));
  if (!document) return Fail(document.error());
  const Value root = document->root();
  if (!root.IsObject()) {
    return Fail(ErrorCode::kInvalid, fmt::format("{} instead of an object", root.DescribeKind()));
  }
  GavelInput input;
  std::vector<Value> calls;
  if (const Value list = root["calls"]; !list.absent()) {
    input.calls = true;
    if (!list.IsArray()) return Fail(ErrorCode::kInvalid, "calls: not a list");
    list.ForEachElement([&](Value call) { calls.push_back(call); });
  } else {
    calls.emplace_back();
  }
  for (const Value call : calls) {
    Result<GavelProblem> problem = ProblemReader(root, call).Read();
    if (!problem) return Fail(problem.error());
    input.problems.push_back(std::move(*problem));
  }
  return input;
}

}  // namespace synergy::cli
