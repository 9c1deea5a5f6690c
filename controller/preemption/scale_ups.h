#pragma once

// Tracks the pods for which an autoscaler creates nodes, as its events report
// (engine/reservations/autoscaling.h). Tenants can forge events about pods in their namespaces,
// with any UID. So an event counts only for a pod in the event's own namespace, and at most
// kMostOfNamespace pods are kept per namespace.
//
// Threading: one writer, the watch; any thread may call IsNodeComingFor().

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cluster/pod.h"
#include "core/clock.h"
#include "kube/reflector.h"
#include "wire/objects/event_about_pod.h"

namespace synergy::controller {

class ScaleUps final : public kube::ObjectStore<wire::EventAboutPod> {
 public:
  static constexpr size_t kMostOfNamespace = 1000;

  void Replace(std::vector<wire::EventAboutPod> all) override;
  void Upsert(wire::EventAboutPod event) override;
  void Remove(const wire::EventAboutPod& event) override;

  // Returns whether a node may still come for the pod.
  bool IsNodeComingFor(const Pod& pod, WallTime now) const;

 private:
  // When the newest event reported a new node, by the pod's UID.
  using TimeByPod = std::map<std::string, WallTime>;

  void Add(const wire::EventAboutPod& event);

  mutable std::mutex mutex_;
  std::map<std::string, TimeByPod> by_namespace_;
};

}  // namespace synergy::controller
