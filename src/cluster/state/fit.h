#pragma once

// Decides whether a pod's requests fit on a node, with the same result as kube-scheduler's
// NodeResourcesFit (docs/internals/accounting.md). Also checks conditions that exclude a node for
// every pod or for this pod.
//
// Threading: pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy {

// The reasons why a pod cannot run on a node, as a set of bits; empty if it can.
class FitFailures {
 public:
  enum Reason : uint16_t {
    kUnknownNode = 1 << 0,
    kDeleting = 1 << 1,
    kUnschedulable = 1 << 2,
    kTooManyPods = 1 << 3,
    kGpus = 1 << 4,
    kCpu = 1 << 5,
    kMemory = 1 << 6,
    kOther = 1 << 7,  // a resource of ScalarResources; DescribeFailures names it
    kGpuProduct = 1 << 8,
    kPlaceholder = 1 << 9,  // its amounts are not set yet
    kMisaligned = 1 << 10,  // the node's kubelet recently failed a pod with that number of GPUs
  };

  void Add(Reason reason) { bits_ = static_cast<uint16_t>(bits_ | reason); }
  bool Has(Reason reason) const { return (bits_ & reason) != 0; }
  bool none() const { return bits_ == 0; }
  uint16_t bits() const { return bits_; }
  static FitFailures FromBits(uint16_t bits) {
    FitFailures failures;
    failures.bits_ = bits;
    return failures;
  }
  bool operator==(const FitFailures&) const = default;

 private:
  uint16_t bits_ = 0;
};

// Returns why `node` has too little free for `pod`, or does not accept it; empty if the pod fits.
FitFailures CheckFit(const Pod& pod, const NodeState& node);
// Variant for callers that already know whether the node lacks a resource of ScalarResources.
FitFailures CheckFit(const Pod& pod, const NodeState& node, bool lacks_scalars);

// Returns whether the node accepts new pods, and its name, labels and taints allow `pod`. REQUIRES:
// pod.waiting.
bool MayGoTo(const Pod& pod, const NodeState& node);

// Returns whether evicting pods from the node could never help: the pod needs more than the node
// has, or no resource is the cause.
bool Unresolvable(FitFailures failures, const Resources& requests, const NodeState& node);

// Describes failures in kube-scheduler's words ("Insufficient cpu, Too many pods"), without
// figures, so that equal failures read the same on every node. `gpu_resource` is the managed
// resource's name.
std::string DescribeFailures(FitFailures failures, const Resources& requests, const NodeState* node,
                             std::string_view gpu_resource);

// The start of the message if a place reserved for a replacement (replacements.h) blocks a pod. The
// key of the lost pod follows.
inline constexpr std::string_view kHeldForReplacement =
    "its room is reserved for the pod that replaces ";

}  // namespace synergy
