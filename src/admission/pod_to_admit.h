#pragma once

// The data about a pod that admission needs, when the pod is about to be created, or was created
// with placeholders.
//
// Threading: values; pure.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/managed_container.h"
#include "cluster/node_selection.h"
#include "cluster/pod.h"
#include "core/gpu_amount.h"
#include "profile/measured/workload_identities.h"

namespace synergy {

// A container that requests GPUs, or slices of GPUs.
struct GpuContainer {
  size_t index = 0;  // in spec.containers
  std::string name;
  GpuAmount gpus;
  WrittenAmounts written;
  WrittenAmounts asks = {};  // after a LimitRange has filled in its defaults
  // The container's program, according to its author.
  std::string image = {};
  std::vector<std::string> command = {};
  std::vector<std::string> args = {};
};

// A container that requests no GPUs, but uses ResourceClaims made from templates.
struct ClaimingContainer {
  GpuContainer container;              // without GPUs
  std::vector<std::string> templates;  // ResourceClaimTemplates, one for each claim
  // As in PodToAdmit, but without this container's amounts.
  ResourceVector beside;
  ResourceVector beside_limits;
  bool guaranteed_beside = true;
};

// The pod's controlling owner. All fields are empty if there is none.
struct PodOwner {
  std::string api_version;  // "batch/v1"
  std::string kind;         // "Job"
  std::string name;
  std::string uid;
};

struct PodToAdmit {
  std::string pod_namespace;
  PodOwner owner;
  std::string scheduler;  // empty: Kubernetes' default
  Labels labels;
  std::string scheduling_group;  // spec.schedulingGroup.podGroupName; empty: none
  bool has_subdomain = false;    // spec.subdomain: its peers find it by name
  int32_t gang_size = 1;         // number of pods in its gang (cluster/gang.h); 1: it trains alone
  std::string why_no_gang = {};  // why it is in no gang with its peers (cluster/gang.h), or empty
  std::vector<GpuContainer> gpu_containers;            // of spec.containers
  std::vector<ClaimingContainer> claiming_containers;  // of spec.containers
  // Requests apart from the GPU containers: sidecars and overhead; no GPUs.
  ResourceVector beside;
  ResourceVector beside_limits;   // limits of the same containers, where they have any
  bool guaranteed_beside = true;  // the other containers allow it to be Guaranteed
  bool best_effort = false;       // no container requests or limits CPU or memory
  NodeSelection selection;
  size_t annotation_bytes = 0;  // keys and values
  bool exists = false;  // already created: if the API server refuses a change, it stays as it is
  // It has been unschedulable for so long that probably no autoscaler is creating a node for its
  // requests.
  bool long_unplaced = false;
  // The identities that it was created with, if it exists; may be empty.
  std::string workload;
  LooserIdentities alike;
  bool has_node = false;             // spec.nodeName is already set
  bool mirror = false;               // represents a static pod
  bool pod_level_resources = false;  // spec.resources
  // Values of annotations; empty: none.
  std::string progress_file = {};
  std::string expected_duration = {};
  bool may_pack = false;  // on a GPU that it shares, it may run at the same time as others

  // Returns whether it has slices of GPUs, and no whole ones.
  bool SharesGpus() const;
};

// Returns the GPUs of a claim made from the template of this namespace and name. Returns none if
// the template is unknown, or the number is undecided until the claim is allocated.
using GpusOfTemplate =
    std::function<std::optional<Gpus>(const std::string& pod_namespace, const std::string& name)>;

// Returns the pod without claiming containers: those that have GPUs become GPU containers, and the
// others are dropped.
PodToAdmit WithClaimedGpus(PodToAdmit pod, const GpusOfTemplate& gpus_of_template);

// Returns the pod as it was created, as far as sizing needs it, so that admission can decide again.
// REQUIRES: `pod.fungible` is not null. `scheduler`: the name of Synergy's scheduler.
PodToAdmit AsCreated(const Pod& pod, const std::string& scheduler);

}  // namespace synergy
