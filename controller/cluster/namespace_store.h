#pragma once

// What the cluster's namespaces say about their pods.
//
// Threading: from any thread; a watch writes, everybody reads.

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

  // Empty where there is no such namespace, or label.
  std::string Label(const std::string& name, std::string_view key) const;
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Labels> labels_;  // by namespace
};

}  // namespace synergy::controller
