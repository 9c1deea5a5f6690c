#pragma once

// RoundPolicies (synergy.io/v1alpha1, cluster-scoped; docs/queues.md). Each decides which workloads
// have their turn in the ClusterQueues that it names.
//
// Threading: values; pure.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "queues/rounds.h"

namespace synergy {

// The status as written to the object.
struct RoundPolicyStatus {
  struct Queue {
    std::string name;
    bool ready = false;
    std::string message;  // why it is not ready, or advice
    int64_t gpus = 0;     // its quota
    int64_t runs = 0;     // workloads in each band
    int64_t next = 0;
    int64_t waits = 0;
    int64_t left_alone = 0;
    std::vector<std::string> up_next;  // the first workloads in order that have no GPUs yet

    bool operator==(const Queue&) const = default;
  };

  int64_t observed_generation = 0;
  bool ready = false;
  std::string reason;
  std::string message;
  std::string warning;  // a former name in the spec; empty: none
  std::string since;    // when `ready` last changed
  std::vector<Queue> queues;

  bool operator==(const RoundPolicyStatus&) const = default;
};

struct RoundPolicy {
  std::string uid;
  std::string name;
  int64_t generation = 0;
  WallTime created{};
  std::vector<std::string> cluster_queues;
  RoundSettings settings;
  // The former name that spec.policy uses for the policy ("gavel-las"); empty: the present name.
  std::string former_name;
  // The range of priorities that may be written. A workload whose bands would be outside this range
  // is left alone.
  int64_t least_priority = -1'000'000;
  int64_t most_priority = 1'000'000;
  // The price of a GPU-hour, by product, for policies of GPU types that consider cost.
  std::map<std::string, double> prices;
  RoundPolicyStatus status;

  const std::string& Key() const { return name; }
  bool ChoosesTypes() const { return settings.gpu_types != GpuTypes::kNone; }
};

// Replaces a former policy name by the fields with the same meaning: "gavel-las-agnostic" by las
// with gpuTypes: Ignore, "optimus" by fifo with workers: Elastic. Other names stay.
void ResolveFormerName(RoundPolicy& policy);

std::string_view ToString(GpuTypes types);  // as spec.gpuTypes spells it; empty for kNone
// Returns "las, gpuTypes: Aware", for users.
std::string DescribePolicy(const RoundSettings& settings);

}  // namespace synergy
