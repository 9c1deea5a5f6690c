#pragma once

// GPUs as a pod requests them: whole ones, or slices of GPUs that several pods share
// (docs/internals/sharing.md). How many slices a GPU has is its node's matter, so slices are
// counted as what they are, and become parts of a GPU only beside a node.
//
// Threading: values.

#include <string>
#include <string_view>

#include "core/units.h"

namespace synergy {

using Slices = Quantity<struct SlicesTag>;  // equal parts of shared GPUs

struct GpuAmount {
  // A number of whole GPUs is an amount.
  constexpr GpuAmount(Gpus whole = {}, Slices parts = {})  // NOLINT(google-explicit-constructor)
      : gpus(whole), slices(parts) {}

  bool operator==(const GpuAmount&) const = default;

  Gpus gpus;
  Slices slices;
};

// Slices of the devices of a resource are offered under its name with this suffix.
inline constexpr std::string_view kSharedSuffix = ".shared";

// Whole GPUs that several pods have one after the other, in turns, are offered with this one.
inline constexpr std::string_view kTurnsSuffix = ".turns";

inline std::string SharedResource(std::string_view gpu_resource) {
  return std::string(gpu_resource) + std::string(kSharedSuffix);
}

inline std::string TurnsResource(std::string_view gpu_resource) {
  return std::string(gpu_resource) + std::string(kTurnsSuffix);
}

}  // namespace synergy
