#pragma once

// Tells people what was done to a pod, or happened to a node, and why: Events that `kubectl
// describe` shows. Best effort, as everywhere in Kubernetes: nothing may depend on one.
//
//   Record -> queue -> POST .../events                      the first time
//                      PATCH of its count and lastTimestamp  when the same was said within 10
//                      minutes
//
// Threading: Record() and dropped() from any thread; one thread of its own per recorder, which
// makes all calls.
// Failures: a call that may work later is repeated with backoff, one after which nobody knows
// whether it took effect too: both calls come to the same when made twice. What is refused, or
// fails for minutes, is dropped, counted and logged.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"

namespace synergy::kube {

struct EventRecord {
  std::string pod_namespace;
  std::string pod_name;
  std::string pod_uid;
  std::string type;     // "Normal" or "Warning"
  std::string reason;   // "SynergyReclaimed"
  std::string message;  // cut to 1024 bytes
  std::string kind = "Pod";
  std::string api_version = "v1";
};
// As the kubelet has it: the node's name is its uid, the namespace "default".
EventRecord AboutNode(std::string node, std::string type, std::string reason, std::string message);

class EventRecorder {
 public:
  // `component` is who speaks ("synergy-controller"), `instance` which of them (its pod's name).
  // All references outlive the recorder.
  static std::unique_ptr<EventRecorder> Start(ApiClient& client, const Clock& clock, Logger& log,
                                              std::string component, std::string instance,
                                              size_t queue_limit = 1000);
  // Sends what waits, for at most a second, then stops; the rest is lost.
  virtual ~EventRecorder() = default;

  // Never blocks. What waits already is counted up instead of queued twice; once the queue is half
  // full, also what differs in its message alone: the last one is told. When it is full the oldest
  // that waits is dropped for the new one.
  virtual void Record(EventRecord event) = 0;
  // Records that did not reach the API server and never will.
  virtual uint64_t dropped() const = 0;
};

// Which of several replicas this process is, in events and leases: the host's name, which in a pod
// is the pod's.
std::string InstanceName();

}  // namespace synergy::kube
