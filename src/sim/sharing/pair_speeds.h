#pragma once

// How fast two models run on one GPU at the same time, relative to their speeds alone there.
//
// Threading: values; pure. Failures: kInvalid names file, line and column.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "engine/sharing/packing.h"

namespace synergy {

class PairSpeeds {
 public:
  void Set(const WorkloadPair& pair, const std::array<double, 2>& speeds) {
    speeds_[pair] = speeds;
  }

  // Returns the speeds of `model` and `other`, in this order. Returns nullopt for a pair that the
  // table lacks: the two do not fit into the GPU's memory together.
  std::optional<std::array<double, 2>> Of(const std::string& model, const std::string& other,
                                          const std::string& gpu_product) const;
  bool empty() const { return speeds_.empty(); }
  const std::map<WorkloadPair, std::array<double, 2>>& all() const { return speeds_; }

 private:
  std::map<WorkloadPair, std::array<double, 2>> speeds_;
};

// Parses CSV with the columns model, other, gpu_product, speed and other_speed, with one line per
// pair that fits. `file_name` names the text in errors.
Result<PairSpeeds> ParsePairSpeeds(std::string_view text, std::string_view file_name);

}  // namespace synergy
