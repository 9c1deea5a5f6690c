#pragma once

// A whole cluster as one Kubernetes List in JSON, as `kubectl get nodes,pods,... -A -o json` prints
// it: nodes, pods, training profiles and namespaces, in any order. Objects of other kinds are
// passed over.
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

// kInvalid names the object, the field and what is wrong with it. What is wrong with a profile is
// in its own problems.
Result<ClusterList> ReadClusterList(std::string_view text, const PodRules& rules);

enum class ClusterKind { kNode, kPod, kTrainingProfile, kNamespace };

// Makes such a List of the API server's answers. Of an object only what ReadClusterList() reads is
// kept: no environment, no commands, no volumes, no annotations but ours, and of managedFields who
// has resized a pod and who wrote our annotations.
class ClusterListWriter {
 public:
  ClusterListWriter();

  // A page of a list of that kind; the token of the next one, empty after the last. kInvalid where
  // the text is no list.
  Result<std::string> AddPage(ClusterKind kind, std::string_view page);
  std::string Take();

 private:
  json::Writer out_;
};

}  // namespace synergy::wire
