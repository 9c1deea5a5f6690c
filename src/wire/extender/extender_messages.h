#pragma once

// The messages between kube-scheduler and its extender (k8s.io/kube-scheduler/extender/v1): Go
// field names, no JSON tags.
//
// Threading: pure. Input: text of any size, nested however deep. The views in what is read point
// into the body (or into the message itself), which has to outlive them.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/pod.h"
#include "core/result.h"
#include "wire/objects/objects.h"

namespace synergy::wire {

// ExtenderArgs, the body of filter and prioritize. kube-scheduler sends whole nodes, or only their
// names when the extender is configured as nodeCacheCapable.
struct ExtenderArgs {
  Pod pod;
  bool whole_nodes = false;
  // The names of the nodes asked about, in order, as they are spelled in the body, with their
  // quotes: so they go back into the answer.
  std::vector<std::string_view> spelled_names;
  std::vector<std::string_view> node_objects;       // whole_nodes: the text of each
  std::unordered_map<size_t, std::string> escaped;  // what the names spelled with escapes mean

  size_t size() const { return spelled_names.size(); }
  // What of each node goes back to kube-scheduler.
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
  bool unresolvable = false;  // no eviction there would help
};

// ExtenderFilterResult. `fitting`: the spelled names of the nodes that are left, or with
// `whole_nodes` their objects' texts: kube-scheduler goes on with the objects that it gets back.
std::string WriteFilterResult(bool whole_nodes, std::span<const std::string_view> fitting,
                              std::span<const FailedNode> failed);

inline constexpr int kMostPoints = 10;
// HostPriorityList: points[i], 0..kMostPoints, for the i-th name.
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

// ExtenderPreemptionArgs, victims by uid, whichever of its two forms was sent.
struct PreemptionArgs {
  Pod pod;
  std::vector<std::pair<std::string, std::vector<std::string>>> victims_by_node;
};
Result<PreemptionArgs> ReadPreemptionArgs(std::string_view body, const ObjectReader& reader);

struct NodeVictims {
  std::string node;
  std::vector<std::string> uids;
  int64_t disruption_budget_violations = 0;
};
// ExtenderPreemptionResult.
std::string WritePreemptionResult(std::span<const NodeVictims> nodes);

// {"Error": message}: for filter and bind, whose answers have that field. Empty: no error.
std::string WriteError(std::string_view message);

}  // namespace synergy::wire
