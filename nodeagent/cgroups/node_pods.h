#pragma once

// The node's pods as the watch reports them, for the threads that visit all pods periodically.
//
// Threading: one thread (the watch's) calls Replace, Upsert and Remove; any thread may call the
// rest.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/managed_container.h"
#include "kube/reflector.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

using PodPointer = std::shared_ptr<const wire::ResizeStatus>;

class NodePods final : public kube::ObjectStore<wire::ResizeStatus> {
 public:
  void Replace(std::vector<wire::ResizeStatus> all) override;
  void Upsert(wire::ResizeStatus pod) override;
  void Remove(const wire::ResizeStatus& pod) override;

  std::optional<wire::ResizeStatus> Last(const wire::ResizeStatus& pod) const override;

  std::vector<PodPointer> All() const;
  // Returns the probes that pods had when the watch first listed them, by uid; nullopt before that.
  std::optional<std::map<std::string, CpuProbe>> FirstProbes() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, PodPointer> pods_;  // by uid
  std::optional<std::map<std::string, CpuProbe>> first_probes_;
};

// Returns the probe that Synergy requests for the pod; null if there is none.
const CpuProbe* ProbeOf(const wire::ResizeStatus& pod);

// Returns the pod's running container whose CPU and memory Synergy manages; null if there is none.
const wire::ResizeStatus::Container* TrainingContainer(const wire::ResizeStatus& pod);

// Finds the pods that share storage with other pods of the node. The page cache of shared files
// cannot be attributed, because the kernel charges it to the first reader.
class SharedStorage {
 public:
  // The pods must outlive this object.
  explicit SharedStorage(const std::vector<PodPointer>& pods);
  bool IsReadBy(const wire::ResizeStatus& pod) const;

 private:
  std::map<std::string_view, int> readers_;
};

}  // namespace synergy::nodeagent
