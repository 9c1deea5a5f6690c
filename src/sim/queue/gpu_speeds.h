#pragma once

// The speeds of models on the GPU products of a simulated cluster, and the TrainingProfiles from
// which the product knows these speeds.
//
// Threading: values; pure. Failures: kInvalid names file, line and column.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "profile/profile_object.h"
#include "sim/cluster/model_profiles.h"

namespace synergy {

// A model's speed on a product is a factor on its profile, independent of CPU and memory.
struct GpuSpeeds {
  std::map<std::string, double> of_products;  // for models that `of_models` lacks
  std::map<std::pair<std::string, std::string>, double> of_models;  // by model and product

  // Returns the model's speed on the product; 1 if it is unknown.
  double Of(const std::string& model, const std::string& product) const;
};

// Parses CSV with the columns model, gpu_product and speed into GpuSpeeds::of_models. `file_name`
// names the text in errors.
Result<std::map<std::pair<std::string, std::string>, double>> ParseGpuSpeeds(
    std::string_view text, std::string_view file_name);

// The TrainingProfiles of each model for each product: the model's profile times its speed there.
class ProfilesOnProducts final : public ProfileIndex {
 public:
  // Omits models that `profiles` does not contain.
  ProfilesOnProducts(const ModelProfiles& profiles, const std::string& profile_namespace,
                     const std::vector<std::string>& models,
                     const std::vector<std::string>& products, const GpuSpeeds& speeds);

  // Simulated pods name no profile of a product.
  std::shared_ptr<const KnownProfile> Find(const std::string& /*profile_namespace*/,
                                           const std::string& /*name*/) const override {
    return nullptr;
  }
  std::vector<std::shared_ptr<const KnownProfile>> All() const override { return known_; }
  uint64_t version() const override { return 1; }

 private:
  std::vector<std::shared_ptr<const KnownProfile>> known_;
};

}  // namespace synergy
