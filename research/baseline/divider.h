#pragma once

// Re-division (re_division.h) of a round's servers: the choices that a job's profile allows, and a
// cache of answers.
//
// Threading: DivisionChoices is pure; a Divider has one owner.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "allocation/re_division.h"
#include "core/resources.h"
#include "policy/job.h"
#include "profile/job_profile.h"

namespace synergy {

// Returns the useful ways to serve a job with `profile`, ascending by CPU. These are at least as
// fast as `fair` (the job's fair share of a server), fit within `limit`, and are not dominated. CPU
// amounts are multiples of `cpu_step` and the profile's own values; memory amounts are the
// profile's and the fair share's. If no way is left, returns the fair share alone. A choice's value
// is GPUs x throughput / the fair share's throughput.
std::vector<DivisionChoice> DivisionChoices(const JobProfile& profile, const ResourceVector& fair,
                                            const ResourceVector& limit, MilliCpu cpu_step);

// Calls Divide with servers and profiles, and caches answers: in a large cluster few servers
// differ.
class Divider {
 public:
  explicit Divider(MilliCpu cpu_step = Cores(1)) : cpu_step_(cpu_step) {}

  struct Answer {
    std::vector<ResourceVector> amounts;  // per job, including GPUs; empty: nothing changes
    double value = 0;
    double bound = 0;
  };
  // Returns an answer that is valid until the next call. `free`: the amount that the jobs may
  // share, which is the server's capacity without what other jobs hold. REQUIRES: the jobs'
  // profiles outlive this object.
  const Answer& Divide(const Server& server, std::span<const JobProfile* const> jobs,
                       const ResourceVector& free);

 private:
  struct ChoicesKey {
    const JobProfile* profile;
    int64_t gpus, cpu, memory;
    auto operator<=>(const ChoicesKey&) const = default;
  };
  struct AnswerKey {
    int64_t gpus, cpu, memory, free_cpu, free_memory;
    std::vector<const JobProfile*> jobs;
    auto operator<=>(const AnswerKey&) const = default;
  };

  const std::vector<DivisionChoice>& Choices(const Server& server, const JobProfile& profile);

  MilliCpu cpu_step_;
  std::map<ChoicesKey, std::vector<DivisionChoice>> choices_;
  std::map<AnswerKey, Answer> answers_;
};

}  // namespace synergy
