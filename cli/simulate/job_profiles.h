#pragma once

// Profiles of whole jobs, by model and GPU count, and a workload's jobs with their profiles.
//
// Threading: one owner. Failures: kInvalid with the name of the model or the job.

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
  // Returns a model's profile, or null.
  using FindMeasured = std::function<const JobProfile*(const std::string& model)>;

  // `cluster`: its profiles take precedence over all others; may be null. `before_facts`: searched
  // before `facts`. REQUIRES: all outlive the table.
  JobProfiles(const ModelFacts& facts, const PresentCluster* cluster,
              FindMeasured before_facts = {});

  // Returns a pointer that stays valid while the table exists.
  Result<const JobProfile*> Find(const std::string& model, Gpus gpus);

  // Returns the profile as measured. The cluster's profiles take precedence, as in admission.
  Result<JobProfile> Measured(const std::string& model) const;

  // Returns the TrainingProfile of this name among the facts; nullptr if there is none.
  const ProfileObject* FindObject(const std::string& model) const {
    return facts_.FindObject(model);
  }

  // Returns the time of an iteration at the fair share: from the trace if it has one, otherwise
  // from the facts.
  Seconds IterationTime(const TraceJob& job) const;

 private:
  const ModelFacts& facts_;
  const PresentCluster* const cluster_;
  const FindMeasured before_facts_;
  std::map<std::pair<std::string, int64_t>, JobProfile> profiles_;  // addresses are stable
};

// Returns the workload's jobs with their profiles. `load`: the factor on the arrival rate.
// `server`: the jobs' work is their time at this server's fair share.
Result<std::vector<Job>> ToJobs(const TraceWorkload& workload, double load,
                                const ResourceVector& server, JobProfiles& profiles);

}  // namespace synergy::cli
