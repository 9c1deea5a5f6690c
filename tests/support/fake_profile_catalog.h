#pragma once

// A ProfileCatalog that finds profiles by name, for all namespaces and numbers of GPUs.

#include <map>
#include <memory>
#include <string>

#include "engine/profile_catalog.h"

namespace synergy::testing {

class FakeProfileCatalog final : public ProfileCatalog {
 public:
  std::map<std::string, std::shared_ptr<const JobProfile>> profiles;
  int64_t generation = 1;

  TunedProfile Find(const std::string&, const std::string& name, Gpus) const override {
    const auto found = profiles.find(name);
    if (found == profiles.end()) return {};
    return {found->second, generation};
  }
  uint64_t version() const override { return static_cast<uint64_t>(generation); }
};

}  // namespace synergy::testing
