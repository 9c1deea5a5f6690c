#include "cli/profile_list.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "cli/amounts.h"
#include "cli/table.h"
#include "core/quantity_text.h"

namespace synergy::cli {
namespace {

constexpr double kBarWidth = 50;

std::string Text(const std::string& text) { return text.empty() ? "-" : text; }

std::string Bar(double throughput, double best) {
  return std::string(static_cast<size_t>(std::lround(kBarWidth * throughput / best)), '#');
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

Tree ToTree(const Profiles& profiles) {
  Tree::List list;
  for (const auto& [key, object] : profiles.all()) list.push_back(ToTree(object));
  return list;
}

std::string ProfileTable(const Profiles& profiles, bool with_namespace) {
  if (profiles.all().empty()) return "no training profiles\n";
  std::vector<std::vector<std::string>> rows{{"PROFILE", "MODEL", "GPU PRODUCT", "GPU",
                                              "DEMAND CPU", "DEMAND MEMORY", "SPEED-UP", "VALID"}};
  if (with_namespace) rows.front().insert(rows.front().begin(), "NAMESPACE");
  for (const auto& [key, object] : profiles.all()) {
    const ProfileStatus& status = object.status;
    std::vector<std::string> row{object.name,
                                 Text(object.training.model),
                                 Text(object.training.gpu_product),
                                 fmt::format("{}", object.training.gpus.count()),
                                 Text(status.demand_cpu),
                                 Text(status.demand_memory),
                                 Text(status.speed_up),
                                 status.valid.empty() ? "not judged yet" : status.valid};
    if (with_namespace) row.insert(row.begin(), object.profile_namespace);
    rows.push_back(std::move(row));
  }
  return FormatTable(rows);
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
  std::string process_memory;
  if (object.training.process_memory)
    process_memory = ToQuantityText(*object.training.process_memory);
  return Tree::Members{
      {"namespace", object.profile_namespace},
      {"name", object.name},
      {"generation", object.generation},
      {"model", object.training.model},
      {"gpuProduct", object.training.gpu_product},
      {"gpus", object.training.gpus.count()},
      {"processMemory", process_memory},
      {"tolerance", object.tolerance},
      {"demand", Tree::Members{{"cpu", status.demand_cpu}, {"memory", status.demand_memory}}},
      {"speedUp", status.speed_up},
      {"valid", status.valid},
      {"problems", std::move(problems)},
      {"points", std::move(points)}};
}

std::string ProfileText(const ProfileObject& object) {
  const ProfileStatus& status = object.status;
  std::string text =
      fmt::format("Profile {}: {}, {} GPUs of {}\n", object.Key(), Text(object.training.model),
                  object.training.gpus.count(),
                  object.training.gpu_product.empty() ? "any product"
                                                      : "product " + object.training.gpu_product);
  if (!status.demand_cpu.empty()) {
    text +=
        fmt::format("Demand cpu {}, memory {}; {} times as fast with it as with the fair share\n",
                    status.demand_cpu, status.demand_memory, Text(status.speed_up));
  }
  text +=
      object.training.process_memory
          ? fmt::format("Process memory {}: what is above it is cache, which may change hands\n",
                        ToReadableText(*object.training.process_memory))
          : "Process memory not known, so memory is not changed\n";
  for (const std::string& problem : object.problems)
    text += fmt::format("Not valid: {}\n", problem);
  if (!object.profile) return text;
  for (const std::string& warning : object.profile->warnings()) {
    text += fmt::format("Doubtful: {}\n", warning);
  }
  return text + Curves(*object.profile);
}

}  // namespace synergy::cli
