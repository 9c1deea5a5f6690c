#include "config/profile_file.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "config/text_file.h"
#include "config/yaml_fields.h"
#include "core/exact_quantity.h"

namespace synergy::config {
namespace {

ExactQuantity ToQuantity(const YAML::Node& node, const std::string& field) {
  const std::string text = Scalar(node, field);
  const std::optional<ParsedQuantity> parsed = ParseExactQuantity(text);
  if (!parsed) {
    Reject(node,
           fmt::format("{}: \"{}\" is not a quantity, as in 3, 4500m, 62.5G or 64Gi", field, text));
  }
  if (parsed->exact <= ExactQuantity()) Reject(node, field + ": must be more than zero");
  return parsed->exact;
}

MilliCpu ToMilliCpu(const YAML::Node& node, const std::string& field) {
  return MilliCpu(ToQuantity(node, field).ToMilli());
}

Bytes ToBytes(const YAML::Node& node, const std::string& field) {
  return Bytes(ToQuantity(node, field).ToUnits());
}

double ToThroughput(const YAML::Node& node, const std::string& field) {
  const std::string text = Scalar(node, field);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
    Reject(node, fmt::format("{}: \"{}\" is not a number", field, text));
  if (number < 0) Reject(node, field + ": must not be negative");
  return number;
}

// Parses a number from 0 to 1; a speed must be above 0.
YamlField Part(std::optional<double>& out, bool is_speed) {
  return [&out, is_speed](const YAML::Node& node, const std::string& field) {
    const double number = ToThroughput(node, field);
    if (number > 1 || (is_speed && number == 0)) {
      Reject(node,
             field + (is_speed ? ": must be above 0 and at most 1" : ": must be from 0 to 1"));
    }
    out = number;
  };
}

void ReadSpreadSpeed(const YAML::Node& node, const std::string& field, SpreadCost& spread) {
  ReadFields(node, field + ".",
             {{"nodes", Part(spread.nodes, true)}, {"racks", Part(spread.racks, true)}});
  if (!spread.nodes) Reject(node, field + ".nodes: is missing");
  if (spread.racks && *spread.racks > *spread.nodes)
    Reject(node, field + ".racks: must be at most nodes");
}

Gpus ToGpus(const YAML::Node& node, const std::string& field) {
  const std::string text = Scalar(node, field);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    Reject(node, fmt::format("{}: \"{}\" is not a whole number above zero", field, text));
  return Gpus(number);
}

std::string ToName(const YAML::Node& node, const std::string& field) {
  std::string name = Scalar(node, field);
  if (name.empty()) Reject(node, field + ": must not be empty");
  return name;
}

void ForEach(const YAML::Node& list, const std::string& field, const auto& read) {
  if (!list.IsSequence()) Reject(list, field + ": expected a list");
  if (list.size() == 0) Reject(list, field + ": the list is empty");
  for (size_t i = 0; i < list.size(); ++i) read(list[i], fmt::format("{}[{}]", field, i));
}

// A point as written. Whether points need memory is known only once the whole profile has been
// read.
struct WrittenPoint {
  YAML::Node node;
  std::string field;
  MilliCpu cpu;
  std::optional<Bytes> memory;
  double throughput = 0;
};

WrittenPoint ReadPoint(const YAML::Node& node, const std::string& field) {
  std::optional<MilliCpu> cpu;
  std::optional<Bytes> memory;
  std::optional<double> throughput;
  ReadFields(
      node, field + ".",
      {{"cpu", [&](const auto& n, const auto& f) { cpu = ToMilliCpu(n, f); }},
       {"memory", [&](const auto& n, const auto& f) { memory = ToBytes(n, f); }},
       {"throughput", [&](const auto& n, const auto& f) { throughput = ToThroughput(n, f); }}});
  if (!cpu) Reject(node, field + ".cpu: is missing");
  if (!throughput) Reject(node, field + ".throughput: is missing");
  return {node, field, *cpu, memory, *throughput};
}

// The parameters of the cache model: all are set, or none.
struct WrittenCache {
  std::optional<Bytes> data_set;
  std::optional<Bytes> storage_bandwidth;
  std::optional<Bytes> bytes_per_sample;
  std::vector<Bytes> memories;

  bool any() const {
    return data_set || storage_bandwidth || bytes_per_sample || !memories.empty();
  }
};

CachedMeasurements ToCached(const YAML::Node& node, const std::string& field,
                            const WrittenCache& cache, const std::vector<WrittenPoint>& points) {
  const auto need = [&](const std::optional<Bytes>& bytes, const char* name) {
    if (!bytes) {
      Reject(node, fmt::format("{}.{}: is missing; set datasetSize, storageBandwidth and "
                               "bytesPerSample together; memories needs all of them",
                               field, name));
    }
    return *bytes;
  };
  CachedMeasurements cached{.model = {need(cache.data_set, "datasetSize"),
                                      need(cache.storage_bandwidth, "storageBandwidth"),
                                      need(cache.bytes_per_sample, "bytesPerSample")},
                            .points = {},
                            .memories = cache.memories};
  for (const WrittenPoint& point : points) {
    if (point.memory) {
      Reject(point.node, point.field +
                             ".memory: must not be set in points if datasetSize is set, because "
                             "they are measured with the data set in memory");
    }
    cached.points.push_back({point.cpu, point.throughput});
  }
  return cached;
}

std::vector<JobProfile::Point> ToPoints(const std::vector<WrittenPoint>& written) {
  std::vector<JobProfile::Point> points;
  for (const WrittenPoint& point : written) {
    if (!point.memory) {
      Reject(
          point.node,
          point.field +
              ".memory: is missing; set it, or datasetSize, storageBandwidth and bytesPerSample");
    }
    points.push_back({point.cpu, *point.memory, point.throughput});
  }
  return points;
}

void RejectTwice(const std::vector<WrittenPoint>& points) {
  std::map<std::pair<MilliCpu, Bytes>, std::string> seen;
  for (const WrittenPoint& point : points) {
    const auto [first, is_new] =
        seen.try_emplace({point.cpu, point.memory.value_or(Bytes(0))}, point.field);
    if (!is_new)
      Reject(point.node, fmt::format("{}: the same amounts as {}", point.field, first->second));
  }
}

class ProfileReader {
 public:
  explicit ProfileReader(std::string name) : name_(std::move(name)) {}

  ProfileFile Read(const YAML::Node& root) {
    bool any = false;
    ReadFields(root, "",
               {{"profiles", [&](const YAML::Node& list, const std::string& field) {
                   any = true;
                   ForEach(list, field,
                           [this](const YAML::Node& n, const std::string& f) { ReadEntry(n, f); });
                 }}});
    if (!any) Reject(root, "profiles: is missing");
    return std::move(file_);
  }

 private:
  void ReadEntry(const YAML::Node& node, const std::string& field) {
    TrainingProfile training;
    WrittenCache cache;
    std::vector<WrittenPoint> points;
    YAML::Node list;
    const auto bytes = [](std::optional<Bytes>& out) {
      return [&out](const YAML::Node& n, const std::string& f) { out = ToBytes(n, f); };
    };
    ReadFields(
        node, field + ".",
        {{"model", [&](const auto& n, const auto& f) { training.model = ToName(n, f); }},
         {"gpuProduct", [&](const auto& n, const auto& f) { training.gpu_product = ToName(n, f); }},
         {"gpus", [&](const auto& n, const auto& f) { training.gpus = ToGpus(n, f); }},
         {"points",
          [&](const YAML::Node& n, const std::string& f) {
            list.reset(n);
            ForEach(n, f, [&](const YAML::Node& point, const std::string& point_field) {
              points.push_back(ReadPoint(point, point_field));
            });
          }},
         {"spreadSpeed",
          [&](const auto& n, const auto& f) { ReadSpreadSpeed(n, f, training.spread); }},
         {"tensorSkew", Part(training.spread.tensor_skew, false)},
         {"datasetSize", bytes(cache.data_set)},
         {"storageBandwidth", bytes(cache.storage_bandwidth)},
         {"bytesPerSample", bytes(cache.bytes_per_sample)},
         {"memories", [&](const YAML::Node& n, const std::string& f) {
            ForEach(n, f, [&](const YAML::Node& memory, const std::string& memory_field) {
              cache.memories.push_back(ToBytes(memory, memory_field));
            });
          }}});
    if (training.model.empty()) Reject(node, field + ".model: is missing");
    if (points.empty()) Reject(node, field + ".points: is missing");
    RejectTwice(points);
    if (cache.any()) {
      training.cached = ToCached(node, field, cache, points);
    } else {
      training.points = ToPoints(points);
    }
    Add(node, field, list, std::move(training));
  }

  void Add(const YAML::Node& node, const std::string& field, const YAML::Node& points,
           TrainingProfile training) {
    const auto [first, is_new] =
        seen_.try_emplace({training.model, training.gpu_product, training.gpus}, field);
    if (!is_new) {
      Reject(node, fmt::format("{}: the same model, GPU product and GPU count as {}", field,
                               first->second));
    }
    Result<JobProfile> profile = MakeJobProfile(training);
    if (!profile) Reject(points, fmt::format("{}.points: {}", field, profile.error().message));
    for (const std::string& warning : profile->warnings()) {
      const Problem place = ProblemAt(points.Mark(), warning);
      file_.warnings.push_back(fmt::format("{}:{}:{}: {}.points: {}", name_, place.line,
                                           place.column, field, place.text));
    }
    file_.entries.push_back({std::move(training), std::move(*profile)});
  }

  std::string name_;
  ProfileFile file_;
  std::map<std::tuple<std::string, std::string, Gpus>, std::string> seen_;
};

}  // namespace

Result<ProfileFile> ParseProfiles(const std::string& text, const std::string& name) {
  const auto fail = [&name](const Problem& problem) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}:{}:{}: {}", name, problem.line, problem.column, problem.text));
  };
  try {
    return ProfileReader(name).Read(YAML::Load(text));
  } catch (const Problem& problem) {
    return fail(problem);
  } catch (const YAML::Exception& problem) {
    return fail(ProblemAt(problem.mark, problem.msg));
  }
}

Result<ProfileFile> LoadProfiles(const std::string& file) {
  return ParseTextFile(file, ParseProfiles);
}

}  // namespace synergy::config
