#pragma once

// The pods of an API server that is all memory, behind kube::PodApi.
//
//   FakePodApi api;
//   api.Put(MakePod("a", ...));
//   api.before_call = [](std::string_view call) { ... };
//   tuner.Step();
//   EXPECT_THAT(api.calls(), ElementsAre("resize a cpu 2, memory 4Gi", "annotate a ..."));
//
// A pod is kept as what wire makes of it, and reads after each write as it would read from the API
// server: what annotations mean, what a resize under way takes from its node, a version that grows.
// A pod has one container. Names are unique whatever the namespace.
//
// Threading: from any thread, but for setting the hooks.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/fungible.h"
#include "cluster/pod.h"
#include "core/result.h"
#include "kube/apis/pod_api.h"

namespace synergy::testing {

class FakePodApi final : public kube::PodApi {
 public:
  // What a call is refused with before anything of it is done. Calls are told as in calls(), and
  // reads as "get a". May change pods.
  std::function<Result<>(std::string_view call)> before_call = [](std::string_view) {
    return Result<>();
  };
  // Heard after each change that a call made, with the pod as it is then; an error is what the
  // caller hears in place of the answer. May change pods: the answer is the one of before.
  std::function<Result<>(const Pod& pod)> after_change = [](const Pod&) { return Result<>(); };

  // From now on calls that begin so are refused; those of before are refused no more.
  void Refuse(std::string beginning, Error error);
  void RefuseNothing();

  // In place of a namesake. A fungible pod's requests and demand are what its container's say.
  void Put(Pod pod);
  void Remove(const std::string& name);

  // What somebody else does: the user, the kubelet, another program.
  void Change(const std::string& name, const std::function<void(Pod& pod)>& change);
  // Of a fungible pod.
  void ChangeFungible(const std::string& name, const std::function<void(Fungible&)>& change);
  // The kubelet has started the pod and does what its spec says.
  void SettleOnNode(const std::string& name);

  // The test ends here when there is no such pod.
  Pod pod(const std::string& name) const;
  // None where it was never written, or was removed.
  std::optional<std::string> annotation(const std::string& name, std::string_view key) const;
  // The writes that were asked for, in order: "bind a n1", "resize a cpu 2, memory 4Gi" (of one
  // dimension "resize a cpu 2"),
  // "annotate a synergy.io/change, synergy.io/hold-" (a removed key ends in a dash), with the
  // reason where one has failed: "bind a n1: denied".
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

  // `unchanged_since` other than 0: as kube::Precondition::kUnchanged.
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
