#include "research/lab/gavel_workloads.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "config/text_file.h"
#include "research/gavel/gavel_workload.h"
#include "sim/workload.h"

namespace synergy::cli {
namespace {

constexpr double kMostOfType = 1e6;

}  // namespace

Result<std::map<std::string, double>> ParseByType(std::string_view option,
                                                  const std::vector<std::string>& parts,
                                                  std::string_view example) {
  std::map<std::string, double> figures;
  for (const std::string_view part : parts) {
    const size_t equals = std::min(part.find('='), part.size());
    const std::string_view text = part.substr(std::min(equals + 1, part.size()));
    double figure = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), figure);
    if (equals == 0 || error != std::errc() || end != text.data() + text.size() ||
        !(figure > 0 && figure <= kMostOfType)) {
      return WrongOption(option, fmt::format("\"{}\": write each type with a number above 0, as {}",
                                             part, example));
    }
    if (!figures.emplace(part.substr(0, equals), figure).second) {
      return WrongOption(option, fmt::format("{} occurs twice", part.substr(0, equals)));
    }
  }
  return figures;
}

Result<GavelThroughputs> LoadThroughputs(const std::string& file) {
  if (file.empty()) return GavelThroughputs::Published();
  const auto text = config::ReadTextFile(file);
  if (!text) return Fail(text.error());
  return GavelThroughputs::Parse(*text, file);
}

Result<std::vector<GavelWorkload>> LoadGavelWorkloads(const LabArguments& arguments,
                                                      const GavelThroughputs& throughputs,
                                                      const std::string& fastest_type) {
  std::vector<GavelWorkload> workloads;
  for (const std::string& file : arguments.traces) {
    const auto text = config::ReadTextFile(file);
    if (!text) return Fail(text.error());
    auto jobs = ParseGavelTrace(*text, file);
    if (!jobs) return Fail(jobs.error());
    workloads.push_back({file, *std::move(jobs)});
  }
  for (const std::string& made : arguments.workloads) {
    const auto options = ParseWorkloadOptions(made);
    if (!options) return WrongOption("--generate", options.error().message);
    auto jobs = GenerateGavelWorkload(*options, throughputs, fastest_type);
    if (!jobs) return WrongOption("--generate", jobs.error().message);
    workloads.push_back({made, *std::move(jobs)});
  }
  if (workloads.empty()) return Fail(ErrorCode::kInvalid, "set either --trace or --generate");
  return workloads;
}

}  // namespace synergy::cli
