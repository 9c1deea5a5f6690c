#pragma once

// Converts Kubernetes API objects from JSON text to the cluster folder's values, and back for those
// that Synergy writes.
//
// Threading: an ObjectReader is immutable; any thread may call any function. Values nested deeper
// than 64 levels are ignored. Lists are read object by object, and each object only up to a limit
// (UnreadObject). Fields are read as kube-scheduler reads them (docs/internals/accounting.md), with
// two exceptions. A quantity that an int64 cannot hold is saturated, whereas Kubernetes wraps. A
// pod's amounts are limited to 2^55 and a node's to 2^60, so that sums stay in range. A pod's
// demand is at least its requests.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/claims.h"
#include "cluster/devices/device_objects.h"
#include "cluster/disruption_budget.h"
#include "cluster/namespace.h"
#include "cluster/node.h"
#include "cluster/pod.h"
#include "core/result.h"
#include "profile/profile_object.h"
#include "wire/objects/event_about_pod.h"
#include "wire/objects/resize_status.h"

namespace synergy::wire {

// An object that is too large to be read completely. Its identity is still available and, for a
// Pod, its node and the amounts that it takes there.
template <class T>
struct UnreadObject {
  T object;
  std::string name;  // "pod default/train-1"
  std::string why;
};

template <class T>
struct ListPage {
  std::vector<T> items;
  std::vector<UnreadObject<T>> unread;
  std::string resource_version;
  std::string continue_token;  // empty on the last page
  // Fields that could not be read, with the object and the path. They count as 0 or absent; a pod
  // without a UID and an object without a name are also delivered.
  std::vector<std::string> problems;
};

enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEventHead {
  WatchEventType type = WatchEventType::kError;
  uint64_t resource_version = 0;  // of the object; a bookmark has nothing else
  Error error;                    // kError: the server's error (kGone: list again)
  std::vector<std::string> problems;
  std::string name;        // of the object: "pod default/train-1"
  std::string why_unread;  // why the object is an UnreadObject; empty if it was read
};

template <class T>
struct WatchEvent : WatchEventHead {
  T object;  // empty in a bookmark and in an error
};

// Why a pod's requests are read.
enum class PodUse {
  kIncoming,   // a pod to be placed: only its spec
  kAccounted,  // a pod that may be on a node: also its status
};

// The settings for reading pods.
struct PodRules {
  std::string gpu_resource;
  ClaimRules claims;  // how to treat annotations that affect other pods
  // Whether pods may have GPUs through ResourceClaims. Only ClusterState counts them
  // (Pod::devices).
  bool device_claims = false;
};

// Reads lists and watches of one kind. The source file of every kind instantiates it (kind.h).
template <class T>
struct KindReader {
  static Result<ListPage<T>> ReadList(std::string text, const PodRules& rules);
  static Result<WatchEvent<T>> ReadWatchEvent(std::string_view text, const PodRules& rules);
};

class ObjectReader {
 public:
  // `gpu_resource` is the managed resource ("nvidia.com/gpu"), which becomes ResourceVector::gpus
  // of pods and nodes. If it is empty, as for readers of other kinds, GPUs are not counted.
  ObjectReader() = default;
  explicit ObjectReader(std::string gpu_resource, ClaimRules claims = {},
                        bool device_claims = false);

  const std::string& gpu_resource() const { return rules_.gpu_resource; }
  const PodRules& pod_rules() const { return rules_; }

  // Read a single object. Errors name the field and the problem; absent fields are empty.
  Result<Pod> ReadPod(std::string_view text, PodUse use) const;
  Result<Node> ReadNode(std::string_view text) const;

  // T is any type with a Kind<T>. A Pod is read as kAccounted. Fails only if the text is not a
  // list. If the text is a metav1.Status, the error has its reason.
  template <class T>
  Result<ListPage<T>> ReadList(std::string text) const {
    return KindReader<T>::ReadList(std::move(text), rules_);
  }
  // Reads one line of a watch.
  template <class T>
  Result<WatchEvent<T>> ReadWatchEvent(std::string_view text) const {
    return KindReader<T>::ReadWatchEvent(text, rules_);
  }

 private:
  PodRules rules_;
};

// metav1.Status, the API server's answer to a request that it refuses.
struct Status {
  int code = 0;
  std::string reason;
  std::string message;
  bool never_fits = false;  // on that node, whatever the caller's rights and quota
};
// Returns nullopt if the text is not a Status.
std::optional<Status> ReadStatus(std::string_view text);
// Returns the meaning of a refusal with this HTTP status; `status` is set if the API server sent
// one.
ErrorCode ToErrorCode(int http_status, const std::optional<Status>& status = std::nullopt);

}  // namespace synergy::wire
