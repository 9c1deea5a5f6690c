#pragma once

// What admission sees of the cluster: the watches' copies of it.
//
// Threading: from any thread.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "admission/admission.h"
#include "controller/fair_shares.h"
#include "controller/namespace_store.h"
#include "controller/profile_store.h"

namespace synergy::controller {

class ClusterView final : public admission::Surroundings {
 public:
  // All outlive this. `complete`: whether everything has been listed once.
  ClusterView(const ProfileStore& profiles, const NamespaceStore& namespaces,
              FairShares& fair_shares, std::function<bool()> complete)
      : profiles_(profiles),
        namespaces_(namespaces),
        fair_shares_(fair_shares),
        complete_(std::move(complete)) {}

  bool Complete() const override { return complete_(); }
  std::string NamespaceLabel(const std::string& name, std::string_view key) const override {
    return namespaces_.Label(name, key);
  }
  std::shared_ptr<const KnownProfile> FindProfile(const std::string& profile_namespace,
                                                  const std::string& name) const override {
    return profiles_.Find(profile_namespace, name);
  }
  std::optional<ResourceVector> FairShare(const NodeSelection& selection, Gpus gpus,
                                          const std::string& gpu_product) const override {
    return fair_shares_.Find(selection, gpus, gpu_product);
  }

 private:
  const ProfileStore& profiles_;
  const NamespaceStore& namespaces_;
  FairShares& fair_shares_;
  const std::function<bool()> complete_;
};

}  // namespace synergy::controller
