#pragma once

// The pods of the node, as the watch has brought them, for those that look at all of them now and
// then.
//
// Threading: Replace, Upsert and Remove by one thread (the watch's), All by any.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kube/reflector.h"
#include "wire/resize_status.h"

namespace synergy::nodeagent {

using PodPointer = std::shared_ptr<const wire::ResizeStatus>;

class NodePods final : public kube::ObjectStore<wire::ResizeStatus> {
 public:
  void Replace(std::vector<wire::ResizeStatus> all) override;
  void Upsert(wire::ResizeStatus pod) override;
  void Remove(const wire::ResizeStatus& pod) override;

  std::vector<PodPointer> All() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, PodPointer> pods_;  // by uid
};

// The container of the pod whose CPU and memory Synergy manages, while it runs; null: none.
const wire::ResizeStatus::Container* TrainingContainer(const wire::ResizeStatus& pod);

}  // namespace synergy::nodeagent
