#pragma once

// Brings the memory of pods below their new limits, and keeps it there until the kubelet has
// applied the limits.
//
//                     fits                      the status shows the limit
//   seen --> looked at -----> released, kept down -------------------------> completed
//              |   ^                  |  too long
//    does not  v   | fits again       +---------> given up  (until the pod's spec changes)
//             stuck: looked at again once a second
//
// From any state: withdrawn, if the pod's spec no longer requests the shrink or the pod is gone.
//
// The kubelet checks its own usage figures, up to 20 s old, for the pod and for each container. It
// checks again after 10 to 15 s or when the pod object changes (measured). After a single release,
// the training's next reads would fill the cache again before the kubelet's next check, so the
// shrinker keeps releasing.
//
// Threading: one thread (the watch's) calls Replace, Upsert and Remove; another one calls AwaitWork
// and Step; any thread may call the rest. Failures: a failed read or release is counted, logged if
// it is new, and retried.

#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/reflector.h"
#include "metrics/node_agent_metrics.h"
#include "nodeagent/memory/memory_groups.h"
#include "nodeagent/memory/shrink.h"

namespace synergy::nodeagent {

struct ShrinkRules {
  MarginRule margin;
  Duration give_up_after = std::chrono::seconds(90);
};

class Shrinker final : public kube::ObjectStore<wire::ResizeStatus> {
 public:
  // All references must outlive the shrinker.
  Shrinker(MemoryGroups& groups, kube::EventRecorder& events, const Clock& clock, Logger& log,
           metrics::NodeAgentMetrics& metrics, ShrinkRules rules);
  ~Shrinker() override;

  void Replace(std::vector<wire::ResizeStatus> all) override;
  void Upsert(wire::ResizeStatus pod) override;
  void Remove(const wire::ResizeStatus& pod) override;

  // Blocks until Step has something to do; returns false if `stop` is requested.
  bool AwaitWork(const std::stop_token& stop);
  // Applies the watch's changes and looks once at each shrink.
  void Step(const std::stop_token& stop);

  size_t watched_pods() const;
  size_t in_progress() const;

 private:
  struct Target;
  struct Work;
  // nullopt: the pod is gone.
  using Change = std::pair<std::string, std::optional<wire::ResizeStatus>>;

  void TakeChanges();
  void Take(wire::ResizeStatus pod);
  void Forget(const std::string& uid);
  void LookAt(Work& work, const std::stop_token& stop);
  Result<> Open(Work& work);
  // Returns an empty string if the memory is below all limits now; otherwise the reason why not.
  Result<std::string> BringDown(Work& work, const std::stop_token& stop);
  void Below(Work& work);
  // Records the release, unless one was recorded since the memory was last stuck.
  void RecordReleased(Work& work);
  void SetStuck(Work& work, const std::string& why);
  void End(const Work& work, std::string_view outcome);
  void Report(Work& work, std::string_view reason, const Error& error);
  void RecordEvent(const Work& work, const char* type, const char* reason, std::string message);

  MemoryGroups& groups_;
  kube::EventRecorder& events_;
  const Clock& clock_;
  Logger& log_;
  metrics::NodeAgentMetrics& metrics_;
  const ShrinkRules rules_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::set<std::string> watched_;  // UIDs
  std::vector<Change> changes_;    // not applied yet
  size_t in_progress_ = 0;

  // Only the stepping thread uses these.
  std::map<std::string, Work> works_;  // by UID
};

}  // namespace synergy::nodeagent
