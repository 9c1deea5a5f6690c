#pragma once

// Profiles of whole jobs, by model and GPU count, and the jobs of a workload with theirs.
//
// Threading: one owner. Failures: kInvalid names the model or the job.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/simulate/starting_cluster.h"
#include "cli/simulate/workloads.h"
#include "core/clock.h"
#include "core/resources.h"
#include "core/result.h"
#include "core/units.h"
#include "policy/job.h"
#include "profile/job_profile.h"
#include "sim/model_facts.h"

namespace synergy::cli {

class JobProfiles {
 public:
  // A model's profile, or null.
  using FindMeasured = std::function<const JobProfile*(const std::string& model)>;

  // `cluster`: whose profiles go before all others, or null; `before_facts`: where else to look
  // before `facts`. All have to outlive the table.
  JobProfiles(const ModelFacts& facts, const PresentCluster* cluster,
              FindMeasured before_facts = {});

  // The profile stays where it is.
  Result<const JobProfile*> Find(const std::string& model, Gpus gpus);

  // As it was measured: what the cluster has goes first, as in admission.
  Result<JobProfile> Measured(const std::string& model) const;

  // At the fair share: the trace's, or else that of the facts.
  Seconds IterationTime(const TraceJob& job) const;

 private:
  const ModelFacts& facts_;
  const PresentCluster* const cluster_;
  const FindMeasured before_facts_;
  std::map<std::pair<std::string, int64_t>, JobProfile> profiles_;  // addresses stay
};

// `load`: the factor on the rate of arrival; `server`: their work is time at its fair share.
Result<std::vector<Job>> ToJobs(const TraceWorkload& workload, double load,
                                const ResourceVector& server, JobProfiles& profiles);

}  // namespace synergy::cli
