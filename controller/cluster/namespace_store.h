#pragma once

// The labels of the cluster's namespaces.
//
// Threading: from any thread; a watch writes, all threads read.

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/namespace.h"
#include "kube/reflector.h"

namespace synergy::controller {

class NamespaceStore final : public kube::ObjectStore<Namespace> {
 public:
  void Replace(std::vector<Namespace> all) override;
  void Upsert(Namespace object) override;
  void Remove(const Namespace& object) override;

  // Returns an empty string if there is no such namespace or label.
  std::string Label(const std::string& name, std::string_view key) const;
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Labels> labels_;  // by namespace
};

}  // namespace synergy::controller
