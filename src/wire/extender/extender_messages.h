#pragma once

// The messages between kube-scheduler and its extender (k8s.io/kube-scheduler/extender/v1), with
// Go's field names because there are no JSON tags.
//
// Threading: pure. Input: text of any size and depth. The views in a message point into the body,
// or into the message itself, which must outlive them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/pod.h"
#include "core/clock.h"
#include "core/result.h"
#include "wire/objects/objects.h"

namespace synergy::wire {

// ExtenderArgs, the body of filter and prioritize. kube-scheduler sends whole nodes, or only their
// names if the extender is configured as nodeCacheCapable.
struct ExtenderArgs {
  Pod pod;
  std::string_view pod_text;  // as sent
  bool whole_nodes = false;
  // The node names of the request, in order, exactly as spelled in the body, with their quotes. The
  // answer repeats them in this form.
  std::vector<std::string_view> spelled_names;
  std::vector<std::string_view> node_objects;       // whole_nodes: the text of each
  std::unordered_map<size_t, std::string> escaped;  // names spelled with escapes, in unescaped form

  size_t size() const { return spelled_names.size(); }
  // Returns the texts that stand for the nodes in the answer.
  const std::vector<std::string_view>& answers() const {
    return whole_nodes ? node_objects : spelled_names;
  }
  std::string_view Name(size_t i) const {
    if (!escaped.empty()) {
      if (const auto it = escaped.find(i); it != escaped.end()) return it->second;
    }
    return spelled_names[i].substr(1, spelled_names[i].size() - 2);
  }
};
Result<ExtenderArgs> ReadExtenderArgs(std::string_view body, const ObjectReader& reader);

struct FailedNode {
  std::string_view spelled_name;
  std::string_view reason;
  bool unresolvable = false;  // evicting pods there would not help
};

// Returns an ExtenderFilterResult. `fitting`: the spelled names of the remaining nodes or, with
// `whole_nodes`, the texts of their objects, because kube-scheduler continues with the objects that
// it receives.
std::string WriteFilterResult(bool whole_nodes, std::span<const std::string_view> fitting,
                              std::span<const FailedNode> failed);

inline constexpr int kMostPoints = 10;
// Returns a HostPriorityList: points[i], 0..kMostPoints, for the i-th name.
std::string WriteHostPriorityList(std::span<const std::string_view> spelled_names,
                                  std::span<const uint8_t> points);

// ExtenderBindingArgs.
struct BindingArgs {
  std::string pod_name;
  std::string pod_namespace;
  std::string pod_uid;
  std::string node;
};
Result<BindingArgs> ReadBindingArgs(std::string_view body);

struct NodeVictims {
  std::string node;
  std::vector<std::string> uids;
  int64_t disruption_budget_violations = 0;
};

// ExtenderPreemptionArgs in either of its two forms.
struct PreemptionArgs {
  Pod pod;
  std::optional<Duration> longest_run;  // PodTimes::longest (wire/pods/gpu_reservation.h)
  std::vector<NodeVictims> proposed;
};
Result<PreemptionArgs> ReadPreemptionArgs(std::string_view body, const ObjectReader& reader);

// Returns an ExtenderPreemptionResult.
std::string WritePreemptionResult(std::span<const NodeVictims> nodes);

// Returns {"Error": message}, for filter and bind, whose answers have that field. An empty message
// means no error.
std::string WriteError(std::string_view message);

}  // namespace synergy::wire
