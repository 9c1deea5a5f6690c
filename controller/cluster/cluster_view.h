#pragma once

// The cluster in the form that admission needs, from the caches that the watches fill.
//
// Threading: any thread.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/admission.h"
#include "cluster/state/cluster_state.h"
#include "controller/cluster/fair_share_cache.h"
#include "controller/cluster/keyed_store.h"
#include "controller/cluster/profile_store.h"

namespace synergy::controller {

class ClusterView final : public AdmissionSurroundings {
 public:
  // All arguments must outlive this object. `complete` returns whether every resource has been
  // listed once.
  ClusterView(const ClusterState& state, const ProfileStore& profiles,
              const KeyedStore<Namespace>& namespaces, FairShareCache& fair_shares,
              std::function<bool()> complete)
      : state_(state),
        profiles_(profiles),
        namespaces_(namespaces),
        fair_shares_(fair_shares),
        complete_(std::move(complete)) {}

  bool Complete() const override { return complete_(); }
  std::string NamespaceLabel(const std::string& name, std::string_view key) const override {
    const auto known = namespaces_.Find(name);
    return known ? std::string(FindLabel(known->labels, key).value_or("")) : std::string();
  }
  std::shared_ptr<const KnownProfile> FindProfile(const std::string& profile_namespace,
                                                  const std::string& name) const override {
    return profiles_.Find(profile_namespace, name);
  }
  MeasuredFound FindMeasured(const std::string& profile_namespace, const WorkloadSought& workload,
                             Gpus gpus, int32_t gang_size, const std::string& gpu_product,
                             const NodeSelection& selection) const override;
  std::shared_ptr<const NamespaceLimits> Limits() const override {
    return state_.Snapshot()->share_limits();
  }
  std::optional<ResourceVector> FairShare(const NodeSelection& selection, const GpuAmount& gpus,
                                          const std::string& gpu_product) const override {
    return fair_shares_.Find(selection, gpus, gpu_product);
  }

 private:
  // Returns the profile for that product or, if it is empty, for the product that the pod can get.
  // Returns null if there is none, or the product is not determined yet.
  std::shared_ptr<const KnownProfile> OfProduct(
      const std::vector<std::shared_ptr<const KnownProfile>>& measured,
      const std::string& gpu_product, const NodeSelection& selection) const;

  const ClusterState& state_;
  const ProfileStore& profiles_;
  const KeyedStore<Namespace>& namespaces_;
  FairShareCache& fair_shares_;
  const std::function<bool()> complete_;
};

}  // namespace synergy::controller
