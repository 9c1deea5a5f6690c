#pragma once

// A kube::PodApi that keeps its pods in memory.
//
//   FakePodApi api;
//   api.Put(MakePod("a", ...));
//   api.before_call = [](std::string_view call) { ... };
//   tuner.Step();
//   EXPECT_THAT(api.calls(), ElementsAre("resize a cpu 2, memory 4Gi", "annotate a ..."));
//
// It keeps each pod in the form in which src/wire reads pods. After a write, the pod is as the API
// server would return it. This includes the effects of annotations, the amounts that a resize in
// progress takes from the node, and a growing version. A pod has one container, and no resize may
// change its QoS class. Names are unique across namespaces.
//
// Threading: from any thread, except setting the hooks.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/managed_container.h"
#include "cluster/pod.h"
#include "core/result.h"
#include "kube/apis/pod_api.h"

namespace synergy::testing {

class FakePodApi final : public kube::PodApi {
 public:
  // Runs before each call; an error refuses the call. `call` is as in calls(); reads are "get a".
  // It may change pods.
  std::function<Result<>(std::string_view call)> before_call = [](std::string_view) {
    return Result<>();
  };
  // Runs after each change by a call, with the changed pod; an error replaces the answer. It may
  // change pods, which does not affect the answer.
  std::function<Result<>(const Pod& pod)> after_change = [](const Pod&) { return Result<>(); };

  // Refuses calls with this beginning from now on. Replaces an earlier refusal.
  void Refuse(std::string beginning, Error error);
  void RefuseNothing();

  // Adds the pod, or replaces the one with its name. Derives a managed pod's requests and demand
  // from its container.
  void Put(Pod pod);
  void Remove(const std::string& name);

  // Changes a pod as another client does: the user, the kubelet, another program.
  void Change(const std::string& name, const std::function<void(Pod& pod)>& change);
  // Changes the managed part of a pod in the same way.
  void ChangeManaged(const std::string& name, const std::function<void(ManagedContainer&)>& change);
  // Acts as the kubelet: starts the pod, and puts the amounts in its spec in force.
  void SettleOnNode(const std::string& name);

  // Returns the pod; aborts the test if there is none.
  Pod pod(const std::string& name) const;
  // Returns the annotation's text; nullopt if it was never written, or was removed.
  std::optional<std::string> annotation(const std::string& name, std::string_view key) const;
  // Returns the requested writes, in order, such as "bind a n1" or "resize a cpu 2, memory 4Gi"
  // ("resize a cpu 2" if only one amount changes). In "annotate a synergy.io/change,
  // synergy.io/hold-", a removed key ends in a dash. A failed call ends with the reason: "bind a
  // n1: denied".
  std::vector<std::string> calls() const;

  Result<Pod> Get(const std::string& pod_namespace, const std::string& name,
                  std::stop_token stop) override;
  Result<> Bind(const kube::PodIdentity& pod, const std::string& node,
                const kube::AnnotationChanges& annotations, uint64_t unchanged_since,
                std::stop_token stop) override;
  Result<Pod> Resize(const Pod& pod, const ResourceVector& amounts, kube::Precondition precondition,
                     kube::Resized resized, std::stop_token stop) override;
  Result<Pod> Annotate(const Pod& pod, const kube::AnnotationChanges& changes,
                       kube::Precondition precondition, std::stop_token stop) override;

 private:
  struct Kept {
    Pod pod;
    std::map<std::string, std::string, std::less<>> annotations;
  };
  using Edit = std::function<Result<>(Kept& kept)>;

  // If `unchanged_since` is not 0, it acts as kube::Precondition::kUnchanged.
  Result<Pod> Write(const kube::PodIdentity& identity, uint64_t unchanged_since, std::string call,
                    const Edit& edit);
  Result<Pod> WriteUnnoted(const kube::PodIdentity& identity, uint64_t unchanged_since,
                           std::string_view call, const Edit& edit);
  Kept& Find(const std::string& name);
  static void Annotate(Kept& kept, const kube::AnnotationChanges& changes);

  mutable std::mutex mutex_;
  std::map<std::string, Kept> pods_;
  std::vector<std::string> calls_;
};

}  // namespace synergy::testing
