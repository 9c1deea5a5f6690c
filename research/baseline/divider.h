#pragma once

// Re-division (re_division.h) of the servers of a round: what a job may be served with by its
// profile, and a memory of what was answered.
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

// The ways to serve a job with `profile` that are worth a thought, ascending by CPU: those that
// reach the throughput of `fair` (the job's fair share of a server), fit within `limit`, and are
// not dominated. CPU comes in steps of `cpu_step` and at the profile's own values, memory at the
// profile's and at the fair share. At least one: the fair share itself is kept when nothing else is
// left. A choice's value is GPUs x throughput / the fair share's throughput.
std::vector<DivisionChoice> DivisionChoices(const JobProfile& profile, const ResourceVector& fair,
                                            const ResourceVector& limit, MilliCpu cpu_step);

// Divide for servers and profiles, remembering what it has answered: in a large cluster few servers
// differ.
class Divider {
 public:
  explicit Divider(MilliCpu cpu_step = Cores(1)) : cpu_step_(cpu_step) {}

  struct Answer {
    std::vector<ResourceVector> amounts;  // per job, GPUs included; empty: leave things as they are
    double value = 0;
    double bound = 0;
  };
  // The answer is good until the next question. The jobs' profiles have to outlive this. `free` is
  // what the jobs may share: the server's capacity without what others hold there.
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
