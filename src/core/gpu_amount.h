#pragma once

// The GPUs that a pod requests: whole GPUs, or slices of GPUs that several pods share
// (docs/internals/sharing.md). Each node has its own number of slices per GPU, so a slice is a
// certain fraction of a GPU only on a given node.
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

// Nodes offer slices under the GPU resource's name with this suffix.
inline constexpr std::string_view kSharedSuffix = ".shared";

// Nodes offer whole GPUs that several pods use in turns under the resource's name with this suffix.
inline constexpr std::string_view kTurnsSuffix = ".turns";

inline std::string SharedResource(std::string_view gpu_resource) {
  return std::string(gpu_resource) + std::string(kSharedSuffix);
}

inline std::string TurnsResource(std::string_view gpu_resource) {
  return std::string(gpu_resource) + std::string(kTurnsSuffix);
}

}  // namespace synergy
