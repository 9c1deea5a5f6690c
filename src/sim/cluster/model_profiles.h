#pragma once

// The profiles of a simulated cluster: TrainingProfiles of namespaces and, for all other
// namespaces, one profile per model, named after the model and measured with one GPU.
//
// Threading: one owner.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "admission/admission.h"
#include "cluster/namespace.h"
#include "cluster/state/cluster_state.h"
#include "engine/profile_catalog.h"
#include "profile/job_profile.h"
#include "profile/profile_object.h"

namespace synergy {

class ModelProfiles final : public ProfileCatalog {
 public:
  // REQUIRES: `one_gpu` is a profile of one GPU. All its memory is fungible.
  void Set(const std::string& model, std::shared_ptr<const JobProfile> one_gpu);
  // Adds a profile of a namespace. It takes precedence over a model's general one.
  void Add(ProfileObject object);

  // Returns the profile for admission; null if there is none.
  std::shared_ptr<const KnownProfile> Known(const std::string& profile_namespace,
                                            const std::string& model) const;
  TunedProfile Find(const std::string& pod_namespace, const std::string& name,
                    Gpus gpus) const override;
  uint64_t version() const override { return version_; }

 private:
  // By namespace (empty for general profiles) and name.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const KnownProfile>> known_;
  // By known profile and GPU count; computed on demand.
  mutable std::map<std::pair<const KnownProfile*, Gpus>, std::shared_ptr<const JobProfile>> scaled_;
  uint64_t version_ = 1;
};

// Admission's view of the simulated cluster. REQUIRES: all arguments outlive this object.
class SimulatedSurroundings final : public AdmissionSurroundings {
 public:
  SimulatedSurroundings(const ClusterState& state, const ModelProfiles& profiles,
                        std::span<const Namespace> namespaces, ResourceVector headroom = {})
      : state_(state), profiles_(profiles), namespaces_(namespaces), headroom_(headroom) {}

  bool Complete() const override { return true; }
  std::string NamespaceLabel(const std::string& name, std::string_view key) const override;
  std::shared_ptr<const KnownProfile> FindProfile(const std::string& profile_namespace,
                                                  const std::string& name) const override;
  // Models are profiled in advance.
  MeasuredFound FindMeasured(const std::string&, const WorkloadSought&, Gpus, int32_t,
                             const std::string&, const NodeSelection&) const override {
    return {};
  }
  std::shared_ptr<const NamespaceLimits> Limits() const override {
    return state_.Snapshot()->share_limits();
  }
  std::optional<ResourceVector> FairShare(const NodeSelection& selection, const GpuAmount& gpus,
                                          const std::string& gpu_product) const override;

 private:
  const ClusterState& state_;
  const ModelProfiles& profiles_;
  const std::span<const Namespace> namespaces_;
  const ResourceVector headroom_;
};

}  // namespace synergy
