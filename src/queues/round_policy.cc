#include "queues/round_policy.h"

#include <string_view>

#include <fmt/format.h>

#include "gavel/type_policies.h"

namespace synergy {
namespace {

constexpr std::string_view kFormerElastic = "optimus";

}  // namespace

void ResolveFormerName(RoundPolicy& policy) {
  RoundSettings& settings = policy.settings;
  const std::string name = settings.policy;
  std::string_view order = name;
  if (name == kFormerElastic) {
    settings.policy = "fifo";
    settings.gpu_types = GpuTypes::kNone;
    settings.elastic = true;
  } else if (name.starts_with(kTypePolicyPrefix)) {
    order.remove_prefix(kTypePolicyPrefix.size());
    const bool aware = !order.ends_with(kAgnosticEnd);
    if (!aware) order.remove_suffix(kAgnosticEnd.size());
    settings.policy = order;
    settings.gpu_types = aware ? GpuTypes::kAware : GpuTypes::kIgnore;
    settings.elastic = false;
  } else {
    return;
  }
  policy.former_name = name;
}

std::string DescribePolicy(const RoundSettings& settings) {
  std::string text = settings.policy;
  if (settings.gpu_types != GpuTypes::kNone)
    text += fmt::format(", gpuTypes: {}", ToString(settings.gpu_types));
  if (settings.elastic) text += ", workers: Elastic";
  if (settings.backfill) text += ", backfill: InTime";
  return text;
}

std::string_view ToString(GpuTypes types) {
  switch (types) {
    case GpuTypes::kNone:
      return "";
    case GpuTypes::kIgnore:
      return "Ignore";
    case GpuTypes::kAware:
      return "Aware";
  }
  return "?";
}

}  // namespace synergy
