#pragma once

// Reports admission's warnings as events on the pods, because users who create pods through a Job
// never see a webhook's warnings. It sits between the watch and the store of pods.
//
// Threading: the same as kube::ObjectStore. Best effort, like all events.

#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cluster/pod.h"
#include "kube/apis/events.h"
#include "kube/reflector.h"

namespace synergy::controller {

class AdmissionWarnings final : public kube::ObjectStore<Pod> {
 public:
  // `store` and `events` must outlive this object. `may_record`: true on only one of several
  // replicas.
  AdmissionWarnings(kube::ObjectStore<Pod>& store, kube::EventRecorder& events,
                    std::function<bool()> may_record)
      : store_(store), events_(events), may_record_(std::move(may_record)) {}

  void Replace(std::vector<Pod> all) override {
    recorded_.clear();
    for (const Pod& pod : all) Record(pod);
    store_.Replace(std::move(all));
  }
  void Upsert(Pod pod) override {
    Record(pod);
    store_.Upsert(std::move(pod));
  }
  void Remove(const Pod& pod) override {
    recorded_.erase(pod.uid);
    store_.Remove(pod);
  }
  std::optional<Pod> Last(const Pod& pod) const override { return store_.Last(pod); }

 private:
  // Skips pods that have a node, because their warnings were reported before.
  void Record(const Pod& pod) {
    if (pod.warnings.empty() || !pod.node.empty() || recorded_.contains(pod.uid) || !may_record_())
      return;
    recorded_.insert(pod.uid);
    for (const std::string& warning : pod.warnings) {
      events_.Record(
          {pod.pod_namespace, pod.name, pod.uid, "Warning", "SynergyAdmission", warning});
    }
  }

  kube::ObjectStore<Pod>& store_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_record_;
  std::unordered_set<std::string> recorded_;  // by uid
};

}  // namespace synergy::controller
