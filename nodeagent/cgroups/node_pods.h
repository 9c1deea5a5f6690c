#pragma once

// The pods of the node, as the watch has brought them, for those that look at all of them now and
// then.
//
// Threading: Replace, Upsert and Remove by one thread (the watch's), the rest by any.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/fungible.h"
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
  // The probes that were on pods when the watch first brought them all, by uid; none before that.
  std::optional<std::map<std::string, CpuProbe>> FirstProbes() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, PodPointer> pods_;  // by uid
  std::optional<std::map<std::string, CpuProbe>> first_probes_;
};

// What Synergy asks to be probed of the pod; null: nothing.
const CpuProbe* ProbeOf(const wire::ResizeStatus& pod);

// The container of the pod whose CPU and memory Synergy manages, while it runs; null: none.
const wire::ResizeStatus::Container* TrainingContainer(const wire::ResizeStatus& pod);

// Whose cache is whose nobody can say where several pods of the node read the same storage: the
// kernel charges it to who read it first.
class SharedStorage {
 public:
  // The pods outlive it.
  explicit SharedStorage(const std::vector<PodPointer>& pods);
  bool IsReadBy(const wire::ResizeStatus& pod) const;

 private:
  std::map<std::string_view, int> readers_;
};

}  // namespace synergy::nodeagent
