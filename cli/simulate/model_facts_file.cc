#include "cli/simulate/model_facts_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "cli/simulate/paper_profiles.h"
#include "cli/simulate/profiles/profile_manifests.h"
#include "config/text_file.h"
#include "config/yaml_fields.h"
#include "core/rounding.h"

namespace synergy::cli {
namespace {

using config::Reject;
using config::Scalar;

// Returns a required entry of a map.
YAML::Node Entry(const YAML::Node& map, const std::string& where, const char* name) {
  if (!map.IsMap()) Reject(map, fmt::format("{}: expected fields", where));
  const YAML::Node entry = map[name];
  if (!entry.IsDefined() || entry.IsNull())
    Reject(map, fmt::format("{}: the field {} is missing: add it", where, name));
  return entry;
}

double Number(const YAML::Node& node, const std::string& field, double least) {
  const std::string text = Scalar(node, field);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) ||
      number < least || number > 1e9) {
    Reject(node, fmt::format("{}: write a number, {} to 1e9", field, least));
  }
  return number;
}

constexpr double kLeastAmount = 0.001;

MilliCpu ToMilliCpu(const YAML::Node& node, const std::string& field) {
  return MilliCpu(ToNearest(Number(node, field, kLeastAmount) * 1e3));
}
Bytes ToBytes(const YAML::Node& node, const std::string& field) {
  return Bytes(ToNearest(Number(node, field, kLeastAmount) * 1e9));
}

// Returns the amounts of the matrices' rows or columns.
template <class Amount>
std::vector<Amount> Axis(const YAML::Node& doc, const char* name,
                         Amount (*read)(const YAML::Node&, const std::string&)) {
  const std::string field = std::string("_doc.") + name;
  const YAML::Node node = Entry(doc, "_doc", name);
  if (!node.IsSequence() || node.size() == 0)
    Reject(node, field + ": write a list of amounts per GPU");
  std::vector<Amount> axis;
  for (const YAML::Node& entry : node) {
    axis.push_back(read(entry, field));
    if (axis.size() > 1 && axis.back() <= axis[axis.size() - 2])
      Reject(entry, field + ": write the amounts in ascending order");
  }
  return axis;
}

struct Axes {
  std::vector<MilliCpu> cpus;
  std::vector<Bytes> memories;
};

void ReadMatrix(const YAML::Node& matrix, const std::string& field, const Axes& axes,
                ModelFact& fact) {
  if (!matrix.IsSequence() || matrix.size() != axes.cpus.size()) {
    Reject(matrix, fmt::format("{}: write a list of {} rows, one for each of _doc.rows_cpu_per_gpu",
                               field, axes.cpus.size()));
  }
  size_t columns = 0;
  for (const YAML::Node& row : matrix) {
    if (columns == 0) columns = row.size();
    if (!row.IsSequence() || row.size() != columns || columns == 0 ||
        columns > axes.memories.size()) {
      Reject(row, fmt::format("{}: write rows of one length, at most the {} of "
                              "_doc.cols_mem_gb_per_gpu",
                              field, axes.memories.size()));
    }
    for (const YAML::Node& cell : row) fact.throughput.push_back(Number(cell, field, 0));
  }
  fact.cpus = axes.cpus;
  fact.memories.assign(axes.memories.end() - static_cast<std::ptrdiff_t>(columns),
                       axes.memories.end());
}

ModelFact ReadFact(const YAML::Node& node, const std::string& where, const Axes& axes) {
  const auto field = [&](const char* name) { return where + "." + name; };
  ModelFact fact;
  fact.cpu = ToMilliCpu(Entry(node, where, "demand_cpu"), field("demand_cpu"));
  fact.memory = ToBytes(Entry(node, where, "demand_mem_gb"), field("demand_mem_gb"));
  fact.iteration_time =
      Seconds(Number(Entry(node, where, "iter_time_s"), field("iter_time_s"), 1e-9));
  fact.speedup = Number(Entry(node, where, "speedup"), field("speedup"), 1e-3);
  ReadMatrix(Entry(node, where, "tput"), field("tput"), axes, fact);
  return fact;
}

Gpus ReadGpus(const YAML::Node& node, const std::string& model) {
  const std::string text = Scalar(node, model + ": a GPU count");
  int64_t gpus = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gpus);
  if (error != std::errc() || end != text.data() + text.size() || gpus < 1) {
    Reject(node, fmt::format("{}: \"{}\" is not a GPU count: write a whole number, 1 or more",
                             model, text));
  }
  return Gpus(gpus);
}

double CpusPerGpu(const ResourceVector& server) {
  return static_cast<double>(server.cpu.count()) / 1e3 / static_cast<double>(server.gpus.count());
}

// Models that were measured on servers with this many CPUs per GPU.
struct MeasuredModels {
  double cpus_per_gpu = 0;
  YAML::Node models;
};

// Returns the models for the largest number of CPUs per GPU that is not above `wanted`, or else for
// the smallest number.
MeasuredModels ModelsFor(const YAML::Node& root, double wanted) {
  if (!root.IsMap()) Reject(root, "the file: expected fields");
  std::optional<MeasuredModels> best;
  for (const auto& entry : root) {
    const std::string name = Scalar(entry.first, "CPUs per GPU");
    if (name.starts_with('_')) continue;
    const double cpus = Number(entry.first, "CPUs per GPU", kLeastAmount);
    const bool better =
        !best || (cpus <= wanted ? best->cpus_per_gpu > wanted || cpus > best->cpus_per_gpu
                                 : cpus < best->cpus_per_gpu);
    if (better) best = MeasuredModels{cpus, entry.second};
  }
  if (!best)
    Reject(root, "no models: add them under the CPUs per GPU of the servers, such as \"3\"");
  return *best;
}

// Converts a fact to a server of another shape. The fact was measured at the fair share of servers
// with `measured` CPUs per GPU.
Result<ModelFact> OnServer(ModelFact fact, double measured, const ResourceVector& server) {
  const auto profile = ProfileOf(fact);
  if (!profile) return Fail(profile.error());
  const Bytes memory(server.memory.count() / server.gpus.count());
  const double before = profile->ThroughputAt(MilliCpu(ToNearest(measured * 1e3)), memory);
  const double now = profile->ThroughputAt(MilliCpu(ToNearest(CpusPerGpu(server) * 1e3)), memory);
  const ResourceVector demand = profile->Demand(0);
  fact.cpu = demand.cpu;
  fact.memory = demand.memory;
  if (now > 0) {
    if (before > 0) fact.iteration_time *= before / now;
    fact.speedup = profile->Best() / now;
  }
  return fact;
}

ModelFacts Read(const YAML::Node& root, const ResourceVector& server) {
  const double wanted = CpusPerGpu(server);
  const auto [measured, models] = ModelsFor(root, wanted);
  const YAML::Node doc = Entry(root, "the file", "_doc");
  const Axes axes{Axis(doc, "rows_cpu_per_gpu", ToMilliCpu),
                  Axis(doc, "cols_mem_gb_per_gpu", ToBytes)};
  const bool as_measured = fmt::format("{:g}", measured) == fmt::format("{:g}", wanted);
  if (const double least = static_cast<double>(axes.cpus.front().count()) / 1e3;
      !as_measured && wanted < least) {
    Reject(doc, fmt::format("servers with {:g} CPUs per GPU have fewer than the {:g} of the first "
                            "row: measure the models with {:g} CPUs per GPU, and add that to "
                            "rows_cpu_per_gpu and to each tput",
                            wanted, least, wanted));
  }
  ModelFacts facts;
  if (!models.IsMap()) Reject(models, "expected models by name");
  for (const auto& model : models) {
    const std::string name = Scalar(model.first, "a model's name");
    if (!model.second.IsMap()) Reject(model.second, name + ": expected GPU counts");
    for (const auto& entry : model.second) {
      const Gpus gpus = ReadGpus(entry.first, name);
      ModelFact fact = ReadFact(entry.second, fmt::format("{}.{}", name, gpus.count()), axes);
      if (!as_measured) {
        // The matrix for several GPUs has unmeasured cells (0), so nothing can be derived from it.
        if (gpus > Gpus(1)) continue;
        auto on_server = OnServer(std::move(fact), measured, server);
        if (!on_server) Reject(entry.second, name + ": " + on_server.error().message);
        fact = *std::move(on_server);
      }
      facts.Set(name, gpus, std::move(fact));
    }
  }
  return facts;
}

}  // namespace

Result<ModelFacts> ParseModelFacts(const std::string& text, const std::string& name,
                                   const ResourceVector& server) {
  if (server.gpus <= Gpus(0) || server.cpu <= MilliCpu(0)) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("{}: cannot be read for servers without GPUs or CPUs: set --gpus and --cpus",
                    name));
  }
  const auto fail = [&name](const config::Problem& problem) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}:{}:{}: {}", name, problem.line, problem.column, problem.text));
  };
  try {
    return Read(YAML::Load(text), server);
  } catch (const config::Problem& problem) {
    return fail(problem);
  } catch (const YAML::Exception& problem) {
    return fail(config::ProblemAt(problem.mark, problem.msg));
  }
}

Result<ModelFacts> PaperModelFacts(const ResourceVector& server) {
  return ParseModelFacts(std::string(kPaperProfiles), "the built-in profiles", server);
}

Result<ModelFacts> LoadModelFacts(const std::string& file, const ResourceVector& server) {
  return config::ParseTextFile(
      file, [&](const std::string& text, const std::string& name) -> Result<ModelFacts> {
        auto manifests = ParseProfileManifests(text, name);
        if (!manifests) return Fail(manifests.error());
        if (!*manifests) return ParseModelFacts(text, name, server);
        ModelFacts facts;
        for (ProfileObject& object : **manifests) facts.SetObject(std::move(object));
        return facts;
      });
}

}  // namespace synergy::cli
