#pragma once

// What admission has to know of a pod that is about to be created, or that has been created with
// placeholders.
//
// Threading: values.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/fungible.h"
#include "cluster/node_selection.h"
#include "cluster/pod.h"
#include "core/units.h"

namespace synergy {

// A container that asks for GPUs.
struct GpuContainer {
  size_t index = 0;  // in spec.containers
  std::string name;
  Gpus gpus;
  WrittenAmounts written;
  WrittenAmounts asks = {};  // what the API server would take: with what a LimitRange has filled in
  // What it runs, as far as its author says.
  std::string image = {};
  std::vector<std::string> command = {};
  std::vector<std::string> args = {};
};

// What has made a pod, as the pod says: its controlling owner. All empty where there is none.
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
  bool has_subdomain = false;    // spec.subdomain: its like find it by name
  int32_t gang_size = 1;         // pods of its gang (cluster/gang.h); 1: it trains alone
  std::string why_no_gang = {};  // though it belongs to others (cluster/gang.h); empty: nothing
  std::vector<GpuContainer> gpu_containers;  // of spec.containers
  // What the pod asks for beside them: sidecars and overhead; no GPUs.
  ResourceVector beside;
  ResourceVector beside_limits;   // of the same, as far as they have any
  bool guaranteed_beside = true;  // the other containers, if any, keep it from no QoS class
  bool best_effort = false;       // no container asks for CPU or memory, or limits it
  NodeSelection selection;
  size_t annotation_bytes = 0;  // keys and values
  bool exists = false;    // it has been created: what the API server refuses leaves it as it is
  std::string workload;   // of one that exists: that which it was created with; may be empty
  bool has_node = false;  // spec.nodeName is set already
  bool mirror = false;    // stands for a static pod
  bool pod_level_resources = false;  // spec.resources
};

}  // namespace synergy
