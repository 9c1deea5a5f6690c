#pragma once

// Converts the results of packs (packing.h) to records that outlive the planner, and back
// (profile/measured/pack_record.h). Records use the wall clock, results the monotonic clock.
//
//   results --WorkloadsOf--> workloads, --RecordsOf--> records of each --ResultsOf--> results
//
// Only pairs of known workloads of one namespace have records: measurements of pods in two
// namespaces stay in the planner. The rest after a trial without a result is not recorded. A record
// from the future is ignored, and so is a record of a good pair that Packing would not keep. A rest
// is never longer than Packing's own.
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

// A workload with a profile, on one GPU of a product.
struct PackedWorkload {
  std::string pod_namespace;
  std::string workload;
  std::string gpu_product;

  auto operator<=>(const PackedWorkload&) const = default;
};

using PackRecords = std::map<PackedWorkload, std::vector<PackRecord>>;

// Returns the name of the pod's workload in a WorkloadPair. A pod of an unknown workload gets a
// name that no other pod has. REQUIRES: the pod is managed.
std::string PackNameOf(const Pod& pod);

// Returns the workloads that have records of the pair: two, one if they are equal, or none.
std::set<PackedWorkload> WorkloadsOf(const WorkloadPair& pair);

// Returns the workload's records, by the other workload; the newest ones if there are too many.
std::vector<PackRecord> RecordsOf(const PackedWorkload& workload, const PackResults& results,
                                  Moment at);

struct RecordedPacks {
  PackResults results;
  size_t ignored = 0;  // number of records that were ignored
};
// Returns the results in the records. If a pair has two records, the newer one counts.
RecordedPacks ResultsOf(const PackRecords& records, Moment at);

// Finds the workloads whose records change.
class PackVerdicts {
 public:
  // Returns the workloads whose verdict or number of refusals has changed since the last call.
  // Other changes of a result do not justify a write.
  std::set<PackedWorkload> Observe(const PackResults& results);

 private:
  std::map<WorkloadPair, std::pair<bool, uint32_t>> last_;  // good, refusals
};

}  // namespace synergy
