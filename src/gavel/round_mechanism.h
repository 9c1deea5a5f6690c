#pragma once

// Keeps jobs to the times that a policy gave them, round by round (Gavel, OSDI'20, section 5).
//
//   f_mj         time that job m got on type j since the last solve / all time given there
//   priority_mj  x_mj / f_mj; 0 where x_mj or T_mj is
//   deficit_mj   what x_mj promised and the job did not get, over all solves
//
// Each round the types are gone through in an order, fastest first unless the caller has another
// one. On a type those jobs get GPUs that have the highest (priority, deficit, x), each if it fits
// and has nothing yet; jobs with priority 0 come last and fill what is left, except under FIFO. At
// a solve every job starts with half a round of time on every type, so that f_mj is never 0 and
// first rounds do not decide all.
//
// Packed: two jobs that may share GPUs are one of those that are gone through, with times of its
// own. It gets GPUs where both of them run and neither has any yet.
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
  std::string partner;  // on the same GPUs; empty: none

  auto operator<=>(const GavelPick&) const = default;
};

// What becomes of jobs that came after the last solve.
enum class GavelNewcomers {
  kFill,  // they get GPUs that would idle, on the type that is fastest for them
  kIdle,  // as in the authors' program: they take GPUs in their turn and do not use them
};

struct GavelRoundOptions {
  double round = 360;            // seconds
  double between_solves = 1920;  // seconds, at least
  bool fifo = false;
  GavelNewcomers newcomers = GavelNewcomers::kFill;
};

class RoundMechanism {
 public:
  // `gpus` per type, in the order in which types are gone through; all vectors are by that.
  RoundMechanism(std::vector<double> gpus, GavelRoundOptions options);

  // A job comes; its name is not there yet.
  void Add(const std::string& name, double gpus, std::vector<double> throughput);
  // Two jobs of as many GPUs, both there, that run together on these types; once at most.
  void AddPair(const std::string& first, const std::string& second, std::vector<bool> runs);
  // With its pairs. Without effect on a name that is not there.
  void Remove(const std::string& name);
  // What is there of each type from now on, and how fast a job is that is there.
  void SetGpus(std::vector<double> gpus);
  void SetThroughput(const std::string& name, std::vector<double> throughput);

  // Whether to ask the policy again: jobs came or went, or what is known of them or of the types is
  // another, and the last solve is long enough ago, was at time 0, or knows nobody who is still
  // here.
  bool SolveIsDue(double now) const;
  // What the policy answered, per job or pair, and type. Jobs that are not named have no
  // allocation; pairs of two that are have no time.
  struct Shares {
    std::string job;
    std::vector<double> shares;
    std::string partner;  // empty: the job alone
  };
  void Solved(double now, const std::vector<Shares>& allocation);

  // That a job, or the pair, had its GPUs on a type for so long.
  void Book(const std::string& name, size_t type, double seconds, const std::string& partner = "");

  // Of a job that is there.
  double Priority(const std::string& name, size_t type) const;
  double Deficit(const std::string& name, size_t type) const;

  // Who runs where in the next round, type by type. `kept`, jobs that are there, have their GPUs
  // before all others. `order`: every type once, as they are gone through; empty: as they come.
  std::vector<GavelPick> Picks(std::span<const GavelPick> kept = {},
                               std::span<const size_t> order = {}) const;

 private:
  // Who is gone through: by the later of two jobs, then the earlier one, a job alone before its
  // pairs. In this order they came.
  struct Who {
    size_t job = 0;
    std::optional<size_t> partner;

    auto operator<=>(const Who&) const = default;
  };
  struct Standing {
    double gpus = 1;
    std::vector<bool> runs;                     // per type
    std::optional<std::vector<double>> shares;  // none: it came after the last solve
    std::vector<double> received;               // since the last solve
    std::vector<double> deficit;
  };
  using Standings = std::map<Who, Standing>;
  struct Job {
    std::string name;
    std::vector<double> throughput;
  };

  // Null where it is not there.
  Standing* Find(const std::string& name, const std::string& partner);
  // Of a job that is there.
  const Standing& At(const std::string& name) const { return standings_.at({numbers_.at(name)}); }
  double Priority(const Standing& standing, size_t type) const;
  // First to last.
  std::vector<const Standings::value_type*> Order(size_t type) const;
  void FillIdle(std::vector<double>& free, std::vector<bool>& placed,
                std::vector<GavelPick>& picks) const;

  std::vector<double> gpus_;
  GavelRoundOptions options_;
  Standings standings_;
  std::unordered_map<size_t, Job> jobs_;  // by number
  std::unordered_map<std::string, size_t> numbers_;
  size_t next_number_ = 0;
  std::vector<double> given_;  // per type, to jobs that have gone too
  std::optional<double> last_solve_;
  bool changed_ = false;
};

}  // namespace synergy
