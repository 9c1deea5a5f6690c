#include "cli/views/profile_list.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/text/amounts.h"
#include "cli/text/terminal.h"
#include "core/rounding.h"
#include "core/text/quantity_text.h"
#include "core/wall_time.h"

namespace synergy::cli {
namespace {

constexpr double kBarWidth = 50;
// The longest value of a pod's label.
constexpr size_t kLongestName = 63;

const std::string& ModelOf(const ProfileObject& object) {
  return object.workload.empty() ? object.training.model : object.workload;
}

std::string Text(const std::string& text) { return text.empty() ? "-" : text; }

std::string NameOf(const ProfileObject& object) {
  return "trainingprofile.synergy.io/" + object.name;
}

std::string ProcessMemoryOf(const ProfileObject& object) {
  const auto& memory = object.training.process_memory;
  return memory ? ToQuantityText(*memory) : std::string();
}

std::string Bar(double throughput, double best) {
  return std::string(static_cast<size_t>(ToNearest(kBarWidth * throughput / best)), '#');
}

// Returns "given" if a user wrote the profile, "measured" if Synergy did.
std::string_view SourceOf(const ProfileObject& object) {
  const bool measured = object.measured || (object.profile == nullptr && object.problems.empty() &&
                                            !object.workload.empty());
  return measured ? "measured" : "given";
}

std::string MeasuredCurve(const MeasuredProfile& measured, double best) {
  std::vector<std::vector<std::string>> rows{{"CPU",
                                              measured.estimate ? "GPU BUSY S/S" : "ITERATIONS/S",
                                              "CERTAINTY", "SEEN", "SPREAD", "THROUGHPUT"}};
  for (const MeasuredPoint& point : measured.points) {
    rows.push_back({ToQuantityText(point.cpu), fmt::format("{:.4g}", point.throughput),
                    std::string(ToString(point.certainty)), fmt::format("{}", point.windows),
                    fmt::format("{:.1f} %", 100 * point.spread), Bar(point.throughput, best)});
  }
  return FormatTable(rows, 2);
}

std::string MemoryText(const MeasuredProfile& measured) {
  const MeasuredMemory& memory = *measured.memory;
  std::string text = fmt::format(
      "Processes need {} of memory{}", ToReadableText(memory.process),
      memory.confirmed ? ""
                       : ", or more: observed for less than an hour, so memory is not reclaimed");
  if (measured.raise) {
    text += fmt::format(
        "; since one was killed at {}, they count as needing {}{}",
        ToReadableText(measured.raise->too_small), ToReadableText(*ProcessMemoryOf(measured)),
        IsRaised(measured)
            ? fmt::format(" (raised {} of {} times)", measured.raise->times, kMostMemoryRaises)
            : "");
  }
  if (memory.data_set <= Bytes(0)) return text + "; almost no data are read\n";
  text += fmt::format("; an epoch reads {}, an iteration {}", ToReadableText(memory.data_set),
                      ToReadableText(memory.bytes_per_iteration));
  if (memory.storage_bandwidth)
    text += fmt::format(", from storage up to {}/s", ToReadableText(*memory.storage_bandwidth));
  return text + '\n';
}

Tree ToTree(const MeasuredMemory& memory, const std::optional<MemoryRaise>& raise) {
  return Tree::Members{
      {"process", ToQuantityText(memory.process)},
      {"raise", raise ? Tree(Tree::Members{{"process", ToQuantityText(raise->process)},
                                           {"tooSmall", ToQuantityText(raise->too_small)},
                                           {"times", static_cast<int64_t>(raise->times)},
                                           {"at", ToTimeText(raise->at)},
                                           {"over", memory.raise_over == raise->at}})
                      : Tree()},
      {"dataSet", ToQuantityText(memory.data_set)},
      {"bytesPerIteration", ToQuantityText(memory.bytes_per_iteration)},
      {"storageBandwidth",
       memory.storage_bandwidth ? ToQuantityText(*memory.storage_bandwidth) : std::string()},
      {"confirmed", memory.confirmed}};
}

std::string MeasuredText(const MeasuredProfile& measured, WallTime now) {
  std::string text =
      fmt::format("Measured {} ago{}, revision {}: {}", ToShortText(now - measured.at),
                  measured.node.empty() ? "" : " on node " + measured.node, measured.revision,
                  ConfidenceOf(measured));
  if (measured.probes > 0) {
    text += fmt::format("; {} probes cost {:.4g} iterations", measured.probes,
                        measured.lost_iterations);
  }
  text += '\n';
  if (measured.cpu_seconds) {
    text += fmt::format("{} takes {:.4g} s of CPU time\n",
                        measured.estimate ? "A second of busy GPUs" : "An iteration",
                        *measured.cpu_seconds);
  }
  if (measured.estimate) {
    text +=
        "An estimate by how busy its GPUs are, because its log shows no training progress: no pod "
        "gets less than its fair share by it\n";
  } else if (measured.censored) {
    text +=
        "All of its data workers were busy: with more workers, and more CPU, it may be faster\n";
  }
  text +=
      measured.memory ? MemoryText(measured) : "Process memory unknown, so memory is not changed\n";
  if (!measured.note.empty()) text += measured.note + '\n';
  return text;
}

Tree ToTree(const MeasuredProfile& measured) {
  Tree::List points;
  for (const MeasuredPoint& point : measured.points) {
    points.push_back(Tree::Members{{"cpu", ToQuantityText(point.cpu)},
                                   {"throughput", point.throughput},
                                   {"certainty", ToString(point.certainty)},
                                   {"windows", static_cast<int64_t>(point.windows)},
                                   {"spread", point.spread}});
  }
  return Tree::Members{
      {"node", measured.node},
      {"revision", measured.revision},
      {"at", ToTimeText(measured.at)},
      {"confidence", ConfidenceOf(measured)},
      {"points", std::move(points)},
      {"cpuSeconds", measured.cpu_seconds},
      {"censored", measured.censored},
      {"estimate", measured.estimate},
      {"probes", static_cast<int64_t>(measured.probes)},
      {"lostIterations", measured.lost_iterations},
      {"memory", measured.memory ? ToTree(*measured.memory, measured.raise) : Tree()},
      {"note", measured.note}};
}

std::string PackingText(const std::vector<PackRecord>& records, WallTime now) {
  if (records.empty()) return "";
  std::vector<std::vector<std::string>> rows{
      {"WORKLOAD", "VERDICT", "SPEED", "ITS SPEED", "REFUSALS", "NEXT TRIAL", "AGE"}};
  for (const PackRecord& record : records) {
    const Duration rest = record.at + record.rest - now;
    rows.push_back({record.with, record.good ? "good" : "refused",
                    fmt::format("{:.2f}", record.speed), fmt::format("{:.2f}", record.other_speed),
                    record.good ? "-" : fmt::format("{}", record.refusals),
                    record.good               ? "-"
                    : rest > Duration::zero() ? "in " + ToShortText(rest)
                                              : "possible",
                    ToShortText(now - record.at)});
  }
  return "At the same time on one GPU, relative to speeds alone\n" + FormatTable(rows, 2);
}

Tree PackingTree(const std::vector<PackRecord>& records) {
  Tree::List list;
  for (const PackRecord& record : records) {
    list.push_back(Tree::Members{
        {"with", record.with},
        {"verdict", record.good ? "Good" : "Refused"},
        {"speed", record.speed},
        {"otherSpeed", record.other_speed},
        {"refusals", static_cast<int64_t>(record.refusals)},
        {"refusedUntil", record.good ? std::string() : ToTimeText(record.at + record.rest)},
        {"at", ToTimeText(record.at)}});
  }
  return list;
}

std::string Curves(const JobProfile& profile) {
  const auto point = [&](const std::string& amount, double throughput) {
    return std::vector<std::string>{amount, fmt::format("{:.4g}", throughput),
                                    Bar(throughput, profile.Best())};
  };
  const size_t most_cpu = profile.cpus().size() - 1;
  const size_t most_memory = profile.memories().size() - 1;
  std::vector<std::vector<std::string>> rows;
  for (size_t cpu = 0; cpu <= most_cpu; ++cpu) {
    rows.push_back(point(ToQuantityText(profile.cpus()[cpu]), profile.Cell(cpu, most_memory)));
  }
  std::string text = fmt::format("Throughput by CPU, with {} of memory\n{}",
                                 ToReadableText(profile.memories().back()), FormatTable(rows, 2));
  if (most_memory == 0) return text;
  rows.clear();
  for (size_t memory = 0; memory <= most_memory; ++memory) {
    rows.push_back(
        point(ToReadableText(profile.memories()[memory]), profile.Cell(most_cpu, memory)));
  }
  return text + fmt::format("Throughput by memory, with {} CPU\n{}",
                            ToQuantityText(profile.cpus().back()), FormatTable(rows, 2));
}

}  // namespace

std::string_view ConfidenceOf(const MeasuredProfile& measured) {
  if (measured.drifted) return "drifted";
  if (measured.estimate) return "GPU busy";
  return measured.confirmed ? "confirmed" : "estimated";
}

Shown ShowProfiles(const Profiles& profiles, bool with_namespace, WallTime now) {
  Shown shown{.columns = {"PROFILE", "MODEL", "GPU PRODUCT", "GPU", "DEMAND CPU", "DEMAND MEMORY",
                          "SPEED-UP", "VALID", "SOURCE", "CONFIDENCE", "AGE", "PROCESS MEMORY",
                          "GANG SIZE", "TOLERANCE"},
              .wide_columns = 3,
              .nothing = "no training profiles"};
  for (const auto& [key, object] : profiles.all()) {
    const ProfileStatus& status = object.status;
    shown.objects.push_back(
        {.names = {NameOf(object)},
         .cells = {object.name, Text(ModelOf(object)), Text(object.training.gpu_product),
                   fmt::format("{}", object.training.gpus.count()), Text(status.demand_cpu),
                   Text(status.demand_memory), Text(status.speed_up),
                   status.valid.empty() ? "not checked yet" : status.valid,
                   std::string(SourceOf(object)),
                   object.measured ? std::string(ConfidenceOf(*object.measured)) : "-",
                   object.measured ? ToShortText(now - object.measured->at) : "-",
                   Text(ProcessMemoryOf(object)), fmt::format("{}", object.gang_size),
                   object.tolerance ? fmt::format("{}", *object.tolerance) : "-"},
         .tree = ToTree(object)});
    if (with_namespace) AddNamespace(shown, object.profile_namespace);
  }
  return shown;
}

Tree ToTree(const ProfileObject& object) {
  Tree::List problems;
  for (const std::string& problem : object.problems) problems.emplace_back(problem);
  Tree::List points;
  if (object.profile) {
    const JobProfile& profile = *object.profile;
    for (size_t cpu = 0; cpu < profile.cpus().size(); ++cpu) {
      for (size_t memory = 0; memory < profile.memories().size(); ++memory) {
        points.push_back(Tree::Members{{"cpu", ToQuantityText(profile.cpus()[cpu])},
                                       {"memory", ToQuantityText(profile.memories()[memory])},
                                       {"throughput", profile.Cell(cpu, memory)}});
      }
    }
  }
  const ProfileStatus& status = object.status;
  return Tree::Members{
      {"namespace", object.profile_namespace},
      {"name", object.name},
      {"generation", object.generation},
      {"model", object.training.model},
      {"source", SourceOf(object)},
      {"workload", object.workload},
      {"measured", object.measured ? ToTree(*object.measured) : Tree()},
      {"packing", PackingTree(object.packing)},
      {"gpuProduct", object.training.gpu_product},
      {"gpus", object.training.gpus.count()},
      {"gangSize", static_cast<int64_t>(object.gang_size)},
      {"processMemory", ProcessMemoryOf(object)},
      {"tolerance", object.tolerance},
      {"demand", Tree::Members{{"cpu", status.demand_cpu}, {"memory", status.demand_memory}}},
      {"speedUp", status.speed_up},
      {"valid", status.valid},
      {"contradiction", status.contradiction},
      {"problems", std::move(problems)},
      {"points", std::move(points)}};
}

std::string ProfileText(const ProfileObject& object, WallTime now) {
  const ProfileStatus& status = object.status;
  std::string text = fmt::format(
      "Profile {}: {}, {} of {}{}\n", object.Key(), Text(ModelOf(object)),
      DescribeGpus(object.training.gpus),
      object.training.gpu_product.empty() ? "any product"
                                          : "product " + object.training.gpu_product,
      object.gang_size > 1
          ? fmt::format(", in gangs of {}, with this CPU for each pod", object.gang_size)
          : "");
  if (!status.demand_cpu.empty()) {
    text += fmt::format("Demand cpu {}{}; {} times as fast with it as with the fair share\n",
                        status.demand_cpu,
                        status.demand_memory.empty() ? "" : ", memory " + status.demand_memory,
                        Text(status.speed_up));
  }
  if (object.measured) {
    return text + MeasuredText(*object.measured, now) +
           MeasuredCurve(*object.measured, object.profile->Best()) +
           PackingText(object.packing, now);
  }
  if (object.profile == nullptr && object.problems.empty()) {
    return text + "No measurements of its speed by CPU and memory yet\n" +
           PackingText(object.packing, now);
  }
  text += object.training.process_memory
              ? fmt::format("Process memory {}: memory above it is cache, which may be reclaimed\n",
                            ToReadableText(*object.training.process_memory))
              : "Process memory unknown, so memory is not changed\n";
  for (const std::string& problem : object.problems) text += fmt::format("Invalid: {}\n", problem);
  if (!status.contradiction.empty())
    text += fmt::format("Contradicted: {}\n", status.contradiction);
  if (!object.profile) return text;
  for (const std::string& warning : object.profile->warnings()) {
    text += fmt::format("Doubtful: {}\n", warning);
  }
  return text + Curves(*object.profile);
}

Shown ShowProfile(const ProfileObject& object, WallTime now) {
  return ShowOne(NameOf(object), ProfileText(object, now), ToTree(object));
}

Result<Tree> ToManifest(const ProfileObject& object) {
  if (!object.measured) {
    return Fail(ErrorCode::kInvalid, fmt::format("profile {} has no measurements", object.Key()));
  }
  const MeasuredProfile& measured = *object.measured;
  if (measured.estimate) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("profile {} is an estimate by how busy GPUs are, not a measurement: "
                            "make the training's progress readable (docs/train.md)",
                            object.Key()));
  }
  const bool seen = std::any_of(
      measured.points.begin(), measured.points.end(),
      [](const MeasuredPoint& point) { return point.certainty != PointCertainty::kGuess; });
  // Synergy trusts the profiles that users write, so an exported profile gets only values that are
  // certain.
  const MeasuredMemory* const memory =
      measured.memory && measured.memory->confirmed ? &*measured.memory : nullptr;
  // If a process was killed, a lower bound of its memory is certain even without a confirmed
  // measurement.
  const Bytes process = ProcessMemoryOf(measured).value_or(Bytes(0));
  const bool cached =
      memory != nullptr && memory->storage_bandwidth.has_value() && memory->data_set > Bytes(0);
  Tree::List points;
  for (const MeasuredPoint& point : measured.points) {
    if (seen && point.certainty == PointCertainty::kGuess) continue;
    Tree::Members members{{"cpu", ToQuantityText(point.cpu)}};
    // Without processMemory the pod's memory is never changed, whatever this value is.
    if (!cached) {
      members.emplace_back("memory", memory ? ToQuantityText(process + memory->data_set) : "1Mi");
    }
    members.emplace_back("throughput", point.throughput);
    points.emplace_back(std::move(members));
  }
  // Use a different name, so that the exported profile does not replace the measured one.
  constexpr std::string_view kMeasured = "measured-";
  const std::string_view of = object.name;
  std::string name =
      fmt::format("given-{}", of.starts_with(kMeasured) ? of.substr(kMeasured.size()) : of)
          .substr(0, kLongestName);
  while (name.back() == '-' || name.back() == '.') name.pop_back();
  Tree::Members spec;
  if (!measured.gpu_product.empty()) spec.emplace_back("gpuProduct", measured.gpu_product);
  spec.emplace_back("gpus", measured.gpus.count());
  if (memory != nullptr) spec.emplace_back("processMemory", ToQuantityText(process));
  if (cached) {
    spec.emplace_back("datasetSize", ToQuantityText(memory->data_set));
    spec.emplace_back("storageBandwidth", ToQuantityText(*memory->storage_bandwidth));
    spec.emplace_back("bytesPerSample", ToQuantityText(memory->bytes_per_iteration));
  }
  spec.emplace_back("points", std::move(points));
  return Tree(Tree::Members{{"apiVersion", "synergy.io/v1alpha1"},
                            {"kind", "TrainingProfile"},
                            {"metadata", Tree::Members{{"namespace", object.profile_namespace},
                                                       {"name", std::move(name)}}},
                            {"spec", std::move(spec)}});
}

}  // namespace synergy::cli
