#include "sim/queue/gpu_speeds.h"

#include "sim/csv.h"

namespace synergy {

double GpuSpeeds::Of(const std::string& model, const std::string& product) const {
  if (const auto found = of_models.find({model, product}); found != of_models.end())
    return found->second;
  const auto found = of_products.find(product);
  return found == of_products.end() ? 1 : found->second;
}

Result<std::map<std::pair<std::string, std::string>, double>> ParseGpuSpeeds(
    std::string_view text, std::string_view file_name) {
  constexpr double kLeast = 1e-6;
  const auto table = CsvTable::Parse(text, file_name);
  if (!table) return Fail(table.error());
  const auto model = table->Need("model");
  if (!model) return Fail(model.error());
  const auto product = table->Need("gpu_product");
  if (!product) return Fail(product.error());
  const auto speed = table->Need("speed");
  if (!speed) return Fail(speed.error());
  std::map<std::pair<std::string, std::string>, double> speeds;
  for (size_t row = 0; row < table->rows(); ++row) {
    const auto value = table->At(row, *speed).Number(kLeast);
    if (!value) return Fail(value.error());
    const CsvTable::Field name = table->At(row, *model);
    const bool is_new =
        speeds
            .emplace(std::pair(std::string(name.text), std::string(table->At(row, *product).text)),
                     *value)
            .second;
    if (!is_new) return name.Reject("write one line for each model and gpu_product");
  }
  return speeds;
}

ProfilesOnProducts::ProfilesOnProducts(const ModelProfiles& profiles,
                                       const std::string& profile_namespace,
                                       const std::vector<std::string>& models,
                                       const std::vector<std::string>& products,
                                       const GpuSpeeds& speeds) {
  for (const std::string& model : models) {
    const auto general = profiles.Known(profile_namespace, model);
    if (!general || !general->object.profile) continue;
    for (const std::string& product : products) {
      const double speed = speeds.Of(model, product);
      const JobProfile& profile = *general->object.profile;
      std::vector<JobProfile::Point> points;
      for (size_t cpu = 0; cpu < profile.cpus().size(); ++cpu) {
        for (size_t memory = 0; memory < profile.memories().size(); ++memory) {
          points.push_back(
              {profile.cpus()[cpu], profile.memories()[memory], profile.Cell(cpu, memory) * speed});
        }
      }
      auto scaled = JobProfile::Create(profile.gpus(), std::move(points));
      if (!scaled) continue;
      auto known = std::make_shared<KnownProfile>(*general);
      known->object.profile_namespace = profile_namespace;
      known->object.workload = model;
      known->object.training.gpu_product = product;
      known->object.profile = std::make_shared<const JobProfile>(*std::move(scaled));
      known_.push_back(std::move(known));
    }
  }
}

}  // namespace synergy
