#pragma once

// Re-division: a server's CPU and memory are divided again among the jobs that are on it, so that
// their throughput, each in units of its fair share's, adds up to the most; nobody falls below its
// fair share's throughput, whatever it holds. docs/simulator.md shows what it is worth.
//
// A multiple-choice knapsack with two resources: one choice per job. Solved exactly by a search
// over the undominated partial divisions, with the Lagrangian bound cutting off what cannot win. A
// search that grows past its limit goes on with its most promising part and says by how much the
// answer may fall short of the best.
//
// Threading: pure functions; a Divider has one owner.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "cluster/job.h"
#include "core/resources.h"
#include "profile/job_profile.h"

namespace synergy {

// One way to serve a job.
struct DivisionChoice {
  MilliCpu cpu;
  Bytes memory;
  double value = 0;

  bool operator==(const DivisionChoice&) const = default;
};

// The ways to serve a job with `profile` that are worth a thought, ascending by CPU: those that
// reach the throughput of `fair` (the job's fair share of a server), fit within `limit`, and are
// not dominated. CPU comes in steps of `cpu_step` and at the profile's own values, memory at the
// profile's and at the fair share. At least one: the fair share itself is kept when nothing else is
// left. A choice's value is GPUs x throughput / the fair share's throughput.
std::vector<DivisionChoice> DivisionChoices(const JobProfile& profile, const ResourceVector& fair,
                                            const ResourceVector& limit, MilliCpu cpu_step);

struct Division {
  std::vector<size_t> chosen;  // per job, the index of its choice
  double value = 0;
  double bound = 0;  // no division is worth more; equal to `value` when it is the best
};

// Divides `cpu` and `memory` among jobs with these choices. No choice at all (`chosen` empty) when
// not even the most modest ones fit together. `max_partial` limits the search.
Division Divide(std::span<const std::span<const DivisionChoice>> jobs, MilliCpu cpu, Bytes memory,
                size_t max_partial = 20'000);

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
