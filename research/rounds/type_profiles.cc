#include "research/rounds/type_profiles.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace synergy {
namespace {

// Models of Gavel's table that stand in for Synergy's models, which were not measured on these
// GPUs. They are matched by the kind of network and the amount of work per step.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kStandIns = {{
    {"alexnet", "ResNet-18 (batch size 64)"},
    {"res18", "ResNet-18 (batch size 128)"},
    {"res50", "ResNet-50 (batch size 64)"},
    {"mobilenet", "ResNet-18 (batch size 256)"},
    {"shufflenet", "ResNet-18 (batch size 64)"},
    {"gnmt", "Transformer (batch size 64)"},
    {"transformer", "Transformer (batch size 128)"},
    {"lstm", "LM (batch size 80)"},
    {"m5", "A3C"},
    {"deepspeech", "LM (batch size 40)"},
}};

}  // namespace

JobProfile OnOtherGpu(const JobProfile& profile, double ratio) {
  const double best = profile.Best();
  std::vector<JobProfile::Point> points;
  for (size_t cpu = 0; cpu < profile.cpus().size(); ++cpu) {
    for (size_t memory = 0; memory < profile.memories().size(); ++memory) {
      const double cell = profile.Cell(cpu, memory);
      points.push_back({profile.cpus()[cpu], profile.memories()[memory],
                        cell < best ? std::min(cell, ratio * best) : ratio * best});
    }
  }
  // This succeeds, because `profile` is valid.
  const JobProfile other = *JobProfile::Create(profile.gpus(), std::move(points));
  return profile.process_memory() ? other.WithProcessMemory(*profile.process_memory()) : other;
}

std::string_view StandInFor(std::string_view model) {
  for (const auto& [name, stand_in] : kStandIns) {
    if (name == model) return stand_in;
  }
  return {};
}

TypeProfiles::TypeProfiles(std::vector<std::string> types, GavelThroughputs throughputs)
    : types_(std::move(types)),
      throughputs_(std::move(throughputs)),
      reference_(throughputs_.FastestFirst(throughputs_.types())->front()) {}

void TypeProfiles::Add(const std::string& model, std::string_view type, JobProfile profile) {
  if (profile.gpus() != Gpus(1)) return;
  added_.emplace(std::pair(model, type.empty() ? reference_ : std::string(type)),
                 std::move(profile));
}

const JobProfile* TypeProfiles::Measured(const std::string& model) const {
  for (const std::string& type : types_) {
    const auto found = added_.find({model, type});
    if (found != added_.end()) return &found->second;
  }
  const auto found = added_.find({model, reference_});
  return found == added_.end() ? nullptr : &found->second;
}

Result<std::vector<double>> TypeProfiles::Rates(const std::string& model, Gpus gpus) const {
  std::string known = model;
  if (!throughputs_.Has(known, 1)) known = StandInFor(model);
  if (!throughputs_.Has(known, 1)) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("the speed of {} on {} is unknown: add a line in --throughputs, or "
                            "profiles with gpuProduct in --type-profiles",
                            model, fmt::join(types_, ", ")));
  }
  const int64_t row = throughputs_.Has(known, gpus.count()) ? gpus.count() : 1;
  std::vector<std::string> types = types_;
  types.push_back(reference_);
  return throughputs_.Of(known, row, types);
}

Result<std::vector<std::optional<JobProfile>>> TypeProfiles::Of(const std::string& model, Gpus gpus,
                                                                const JobProfile& measured) const {
  std::vector<std::optional<JobProfile>> profiles;
  std::optional<size_t> measured_on;
  for (size_t type = 0; type < types_.size(); ++type) {
    const auto found = added_.find({model, types_[type]});
    profiles.push_back(found == added_.end() ? std::nullopt : std::optional(found->second));
    if (profiles.back() && !measured_on) measured_on = type;
  }
  if (std::count(profiles.begin(), profiles.end(), std::nullopt) > 0) {
    const auto rates = Rates(model, gpus);
    if (!rates) return Fail(rates.error());
    const double of_measured = measured_on ? (*rates)[*measured_on] : rates->back();
    for (size_t type = 0; type < types_.size(); ++type) {
      const double rate = (*rates)[type];
      if (profiles[type] || rate <= 0 || of_measured <= 0) continue;
      profiles[type] = OnOtherGpu(measured, rate / of_measured);
    }
  }
  for (std::optional<JobProfile>& profile : profiles) {
    if (!profile || gpus == Gpus(1)) continue;
    auto scaled = Scaled(*profile, gpus);
    if (!scaled) {
      return Fail(scaled.error().code, fmt::format("{}: {}", model, scaled.error().message));
    }
    profile = *std::move(scaled);
  }
  return profiles;
}

}  // namespace synergy
