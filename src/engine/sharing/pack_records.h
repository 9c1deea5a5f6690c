#pragma once

// Converts the results of packs (packing.h) to records that outlive the planner, and back
// (profile/measured/pack_record.h). Records have times of the wall clock, results those of the
// monotonic one.
//
//   results --WorkloadsOf--> workloads, --RecordsOf--> records of each --ResultsOf--> results
//
// Only pairs of known workloads of one namespace have records: what a pod shows about its
// neighbour in another namespace stays in the planner. A rest of a trial without a result is not
// recorded. A record is not believed if it is from the future, or if it says that a pair is good
// that Packing would not keep; a rest is never longer than Packing's own.
//
// Threading: pure.

#include <compare>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/pod.h"
#include "core/clock.h"
#include "engine/sharing/packing.h"
#include "profile/measured/pack_record.h"

namespace synergy {

using PackResults = std::map<WorkloadPair, PackResult>;

// A workload on one GPU of a product; it has a profile.
struct PackedWorkload {
  std::string pod_namespace;
  std::string workload;
  std::string gpu_product;

  auto operator<=>(const PackedWorkload&) const = default;
};

using PackRecords = std::map<PackedWorkload, std::vector<PackRecord>>;

// Returns the name of the pod's workload in a WorkloadPair. A pod of an unknown workload is like no
// other pod. REQUIRES: the pod is managed.
std::string PackNameOf(const Pod& pod);

// Returns the workloads that have records of the pair: both, or the one if they are the same, or
// none.
std::set<PackedWorkload> WorkloadsOf(const WorkloadPair& pair);

// Returns the workload's records, by the other workload; the newest ones if there are too many.
std::vector<PackRecord> RecordsOf(const PackedWorkload& workload, const PackResults& results,
                                  Moment at);

struct RecordedPacks {
  PackResults results;
  size_t ignored = 0;  // records that are not believed
};
// If a pair has two records, the newer one counts.
RecordedPacks ResultsOf(const PackRecords& records, Moment at);

// Finds the workloads whose records change.
class PackVerdicts {
 public:
  // Returns the workloads with another verdict than at the last call, or another number of
  // refusals. Other changes of a result are not worth a write.
  std::set<PackedWorkload> Observe(const PackResults& results);

 private:
  std::map<WorkloadPair, std::pair<bool, uint32_t>> last_;  // good, refusals
};

}  // namespace synergy
