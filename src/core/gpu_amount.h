#pragma once

// GPUs as a pod requests them: whole ones, or slices of GPUs that several pods share
// (docs/internals/sharing.md). Each node decides how many slices a GPU has, so slices are counted
// as slices, and become fractions of a GPU only in relation to a node.
//
// Threading: values.

#include <string>
#include <string_view>

#include "core/units.h"

namespace synergy {

using Slices = Quantity<struct SlicesTag>;  // equal parts of shared GPUs

struct GpuAmount {
  // Implicit, because a number of whole GPUs is an amount.
  constexpr GpuAmount(Gpus whole = {}, Slices parts = {})  // NOLINT(google-explicit-constructor)
      : gpus(whole), slices(parts) {}

  bool operator==(const GpuAmount&) const = default;

  Gpus gpus;
  Slices slices;
};

// A resource's slices are offered under its name with this suffix.
inline constexpr std::string_view kSharedSuffix = ".shared";

// Whole GPUs that several pods use in turns are offered under the resource's name with this suffix.
inline constexpr std::string_view kTurnsSuffix = ".turns";

inline std::string SharedResource(std::string_view gpu_resource) {
  return std::string(gpu_resource) + std::string(kSharedSuffix);
}

inline std::string TurnsResource(std::string_view gpu_resource) {
  return std::string(gpu_resource) + std::string(kTurnsSuffix);
}

}  // namespace synergy
