#pragma once

// A whole cluster as one Kubernetes List in JSON, as printed by `kubectl get nodes,pods,... -A -o
// json`: nodes, pods, training profiles and namespaces, in any order. Objects of other kinds are
// ignored.
//
// Threading: pure; a writer has one owner.

#include <string>
#include <string_view>
#include <vector>

#include "cluster/namespace.h"
#include "cluster/node.h"
#include "cluster/pod.h"
#include "core/result.h"
#include "json/writer.h"
#include "profile/profile_object.h"
#include "wire/objects/objects.h"

namespace synergy::wire {

struct ClusterList {
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::vector<ProfileObject> profiles;
  std::vector<Namespace> namespaces;
};

// Returns kInvalid, with the object, the field and the error. Problems of a profile are in its
// `problems`.
Result<ClusterList> ReadClusterList(std::string_view text, const PodRules& rules);

enum class ClusterKind { kNode, kPod, kTrainingProfile, kNamespace };

// Builds such a List from the API server's responses. Keeps only what ReadClusterList() reads of an
// object: no environment, commands or volumes, and no annotations except Synergy's. In
// managedFields it keeps only the managers that resized a pod or wrote Synergy's annotations.
class ClusterListWriter {
 public:
  ClusterListWriter();

  // Adds a page of a list of that kind. Returns the token of the next page, which is empty after
  // the last; kInvalid if the text is not a list.
  Result<std::string> AddPage(ClusterKind kind, std::string_view page);
  std::string Take();

 private:
  json::Writer out_;
};

}  // namespace synergy::wire
