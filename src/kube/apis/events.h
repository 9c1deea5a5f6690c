#pragma once

// Reports actions on an object, and other changes of it, to users as Events, which `kubectl
// describe` shows. Events are best effort, as everywhere in Kubernetes: no code may depend on one.
//
//   Record -> queue -> POST .../events                      the first time
//                      PATCH of its count and lastTimestamp  if repeated within 10 minutes
//
// Threading: any thread may call Record() and dropped(); each recorder has one thread, which makes
// all calls to the server. Failures: a call that may work later is repeated with backoff, even if
// it may have taken effect, because both calls are idempotent. An event that is refused, or fails
// for minutes, is dropped, counted and logged.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"

namespace synergy::kube {

// An event about one object, which is a pod unless `kind` names another kind.
struct EventRecord {
  std::string object_namespace;  // also the namespace of the Event
  std::string object_name;
  std::string object_uid;
  std::string type;     // "Normal" or "Warning"
  std::string reason;   // "SynergyReclaimed"
  std::string message;  // cut to 1024 bytes
  std::string kind = "Pod";
  std::string api_version = "v1";
};
// `pod`: a Pod or wire::ResizeStatus.
template <class Pod>
EventRecord AboutPod(const Pod& pod, std::string type, std::string reason, std::string message) {
  return {pod.pod_namespace, pod.name,          pod.uid,
          std::move(type),   std::move(reason), std::move(message)};
}
// `owner`: an ObjectOwner or WorkloadOwner, such as a job.
template <class Owner>
EventRecord AboutOwner(std::string its_namespace, const Owner& owner, std::string type,
                       std::string reason, std::string message) {
  return {std::move(its_namespace), owner.name,         owner.uid,  std::move(type),
          std::move(reason),        std::move(message), owner.kind, owner.api_version};
}
// As in the kubelet's events, the node's name serves as its UID, and the namespace is "default".
EventRecord AboutNode(std::string node, std::string type, std::string reason, std::string message);

class EventRecorder {
 public:
  // `component` is the reporter ("synergy-controller"), and `instance` its replica (the pod's
  // name). All references must outlive the recorder.
  static std::unique_ptr<EventRecorder> Start(ApiClient& client, const Clock& clock, Logger& log,
                                              std::string component, std::string instance,
                                              size_t queue_limit = 1000);
  // Sends queued events for at most a second, then stops and drops the rest.
  virtual ~EventRecorder() = default;

  // Never blocks. An event that is already queued is counted instead of queued again. Once the
  // queue is half full, this also applies to events that differ only in the message; only the last
  // message is sent. When the queue is full, the oldest event is dropped.
  virtual void Record(EventRecord event) = 0;
  // Returns the number of records that will never reach the API server.
  virtual uint64_t dropped() const = 0;
};

// Returns the name of this replica in events and leases: the host name, which in a pod is the pod's
// name.
std::string InstanceName();

}  // namespace synergy::kube
