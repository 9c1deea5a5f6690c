#include "sim/cluster/model_profiles.h"

#include <utility>

#include "allocation/fair_share.h"

namespace synergy {

void ModelProfiles::Set(const std::string& model, std::shared_ptr<const JobProfile> one_gpu) {
  ProfileObject object;
  object.name = model;
  object.generation = 1;
  // A trace has no data on process memory, so all memory of a model counts as cache.
  if (one_gpu) object.profile = std::make_shared<const JobProfile>(one_gpu->WithProcessMemory({}));
  Add(std::move(object));
}

void ModelProfiles::Add(ProfileObject object) {
  auto known = std::make_shared<KnownProfile>();
  // The controller's default tolerance is 0.
  known->tolerance = object.tolerance.value_or(0);
  if (object.profile) known->demand = object.profile->Demand(known->tolerance);
  auto key = std::pair(object.profile_namespace, object.name);
  known->object = std::move(object);
  known_.insert_or_assign(std::move(key), std::move(known));
  scaled_.clear();
  ++version_;
}

std::shared_ptr<const KnownProfile> ModelProfiles::Known(const std::string& profile_namespace,
                                                         const std::string& model) const {
  auto it = known_.find({profile_namespace, model});
  if (it == known_.end()) it = known_.find({std::string(), model});
  return it == known_.end() ? nullptr : it->second;
}

TunedProfile ModelProfiles::Find(const std::string& pod_namespace, const std::string& name,
                                 Gpus gpus) const {
  const auto known = Known(pod_namespace, name);
  if (!known) return {};
  const auto key = std::pair(known.get(), gpus);
  auto it = scaled_.find(key);
  if (it == scaled_.end()) {
    it = scaled_.emplace(key, ForGpus(known->object.profile, gpus)).first;
  }
  if (!it->second) return {};
  return {it->second, known->object.generation};
}

std::string SimulatedSurroundings::NamespaceLabel(const std::string& name,
                                                  std::string_view key) const {
  for (const Namespace& known : namespaces_) {
    if (known.name == name) return std::string(FindLabel(known.labels, key).value_or(""));
  }
  return {};
}

std::shared_ptr<const KnownProfile> SimulatedSurroundings::FindProfile(
    const std::string& profile_namespace, const std::string& name) const {
  return profiles_.Known(profile_namespace, name);
}

std::optional<ResourceVector> SimulatedSurroundings::FairShare(
    const NodeSelection& selection, const GpuAmount& gpus, const std::string& gpu_product) const {
  return LeastFairShare(*state_.Snapshot(), &selection, gpus, gpu_product, headroom_);
}

}  // namespace synergy
