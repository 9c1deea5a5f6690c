#pragma once

// Gives jobs the times that a policy decided, round by round (Gavel, OSDI'20, section 5).
//
//   f_mj         time that job m got on type j since the last solve / all time given there
//   priority_mj  x_mj / f_mj; 0 where x_mj or T_mj is
//   deficit_mj   the part of x_mj that the job did not get, over all solves
//
// Each round visits the types in order, fastest first by default. On each type, the jobs with the
// highest (priority, deficit, x) get GPUs if they fit and have none yet. Jobs with priority 0 come
// last and fill what is left, except under FIFO. At a solve every job starts with half a round of
// time on every type, so that f_mj is never 0 and the first rounds do not decide everything.
//
// Packed: two jobs that may share GPUs form another candidate, with its own times. It gets GPUs on
// types where both jobs run, if neither has any yet.
//
// Threading: one owner at a time.

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace synergy {

struct GavelPick {
  std::string job;
  size_t type = 0;
  std::string partner;  // the job on the same GPUs; empty: none

  auto operator<=>(const GavelPick&) const = default;
};

// How to treat jobs that arrived after the last solve.
enum class GavelNewcomers {
  kFill,  // get GPUs that would otherwise idle, on their fastest type
  kIdle,  // get GPUs in their turn but do not use them, as in the authors' program
};

struct GavelRoundOptions {
  double round = 360;            // seconds
  double between_solves = 1920;  // seconds; minimum
  bool fifo = false;
  GavelNewcomers newcomers = GavelNewcomers::kFill;
};

class RoundMechanism {
 public:
  // `gpus` is by type, in the order in which types are visited; all vectors use this order.
  RoundMechanism(std::vector<double> gpus, GavelRoundOptions options);

  // Adds a job. REQUIRES: the name is new.
  void Add(const std::string& name, double gpus, std::vector<double> throughput);
  // Adds a pair of known jobs with equally many GPUs, with the types on which they run together.
  // REQUIRES: at most one call per pair.
  void AddPair(const std::string& first, const std::string& second, std::vector<bool> runs);
  // Removes the job and its pairs. Does nothing for an unknown name.
  void Remove(const std::string& name);
  // Replaces the GPUs of each type, or the throughputs of a known job.
  void SetGpus(std::vector<double> gpus);
  void SetThroughput(const std::string& name, std::vector<double> throughput);

  // Returns whether to ask the policy again. This requires that jobs arrived or ended, or that
  // their data or the types' data changed. Also, the last solve must be long enough ago, have been
  // at time 0, or include no present job.
  bool SolveIsDue(double now) const;
  // The policy's answer, by job or pair, and type. Jobs that it does not name have no allocation,
  // and unnamed pairs of named jobs have no time.
  struct Shares {
    std::string job;
    std::vector<double> shares;
    std::string partner;  // empty: only the job
  };
  void Solved(double now, const std::vector<Shares>& allocation);

  // Records that a job or a pair had its GPUs on a type for `seconds`.
  void Charge(const std::string& name, size_t type, double seconds,
              const std::string& partner = "");

  // REQUIRES: the job is known.
  double Priority(const std::string& name, size_t type) const;
  double Deficit(const std::string& name, size_t type) const;

  // Returns the jobs that run in the next round, by type. The jobs of `kept`, which must be known,
  // get their GPUs first. `order`: every type once, in the order of visits; empty: their own order.
  std::vector<GavelPick> Picks(std::span<const GavelPick> kept = {},
                               std::span<const size_t> order = {}) const;

 private:
  // The key of a candidate. Candidates are ordered by arrival: by the later of two jobs, then by
  // the earlier one; a single job precedes its pairs.
  struct Candidate {
    size_t job = 0;
    std::optional<size_t> partner;

    auto operator<=>(const Candidate&) const = default;
  };
  struct Standing {
    double gpus = 1;
    std::vector<bool> runs;                     // per type
    std::optional<std::vector<double>> shares;  // absent: it arrived after the last solve
    std::vector<double> received;               // since the last solve
    std::vector<double> deficit;
  };
  using Standings = std::map<Candidate, Standing>;
  struct Job {
    std::string name;
    std::vector<double> throughput;
  };

  // Returns null for an unknown candidate.
  Standing* Find(const std::string& name, const std::string& partner);
  // REQUIRES: the job is known.
  const Standing& At(const std::string& name) const { return standings_.at({numbers_.at(name)}); }
  double Priority(const Standing& standing, size_t type) const;
  // Returns the candidates in the order in which they get GPUs.
  std::vector<const Standings::value_type*> Order(size_t type) const;
  void FillIdle(std::vector<double>& free, std::vector<bool>& placed,
                std::vector<GavelPick>& picks) const;

  std::vector<double> gpus_;
  GavelRoundOptions options_;
  Standings standings_;
  std::unordered_map<size_t, Job> jobs_;  // by number
  std::unordered_map<std::string, size_t> numbers_;
  size_t next_number_ = 0;
  std::vector<double> given_;  // per type; includes jobs that have ended
  std::optional<double> last_solve_;
  bool changed_ = false;
};

}  // namespace synergy
