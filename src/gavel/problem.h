#pragma once

// The decision problem of Gavel's policies (Narayanan et al., "Heterogeneity-Aware Cluster
// Scheduling Policies for Deep Learning Workloads", OSDI'20, sections 3 and 4): jobs m, GPU types
// j, and the fraction x_mj of its time that each job spends on each type.
//
//   T_mj      iterations per second of job m on type j      thr_m = sum_j T_mj x_mj
//   s_m       GPUs of job m                                 sum_j x_mj <= 1
//   n_j       GPUs of type j                                sum_m s_m x_mj <= n_j
//   w_m       weight of job m                               x_mj >= 0
//   prop_m    sum_j T_mj n_j / sum_j n_j: its throughput when its time is divided as the GPUs are
//
// With packing, pairs of jobs with equal s share GPUs. The sums then include every combination that
// a job is part of, and a pair counts once for the GPUs. As in the paper, a policy may give a job
// time on a type with too few GPUs for it; the code that uses the times must give it none.
//
// Times are in seconds, throughputs in iterations per second, costs in money per GPU and hour.
//
// Threading: values.

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace synergy {

struct GavelJob {
  std::string name;
  double gpus = 1;
  double weight = 1;
  std::vector<double> throughput;    // per type
  std::optional<double> steps_left;  // iterations
  std::optional<double> deadline;    // from now
  double waited = 0;                 // since the job arrived
};

// Two jobs that share equally many GPUs.
struct GavelPair {
  size_t first = 0;
  size_t second = 0;
  std::vector<std::array<double, 2>> throughput;  // per type: of the first job, then of the second
};

struct GavelEntity {
  std::string name;
  double weight = 1;
  bool fifo = false;  // serves its jobs one after another; otherwise by their weights
  std::vector<size_t> jobs;
};

struct GavelProblem {
  std::vector<std::string> types;
  std::vector<double> gpus;   // per type
  std::vector<double> costs;  // per type; empty: unknown
  std::vector<GavelJob> jobs;
  std::vector<GavelPair> pairs;
  std::vector<GavelEntity> entities;  // each job is in one of them; empty: no entities
};

// By type, for each job and each pair.
struct GavelShares {
  std::vector<std::vector<double>> jobs;
  std::vector<std::vector<double>> pairs;
};

struct GavelAnswer {
  // The value that the policy minimises or maximises; absent if there is none.
  std::optional<double> objective;
  GavelShares shares;
  std::vector<size_t> missed;  // jobs whose deadlines are abandoned
};

// How a policy sees the types.
enum class GavelView {
  kAgnostic,  // all types are alike
  kAware,     // each job's throughput on each type
  kPacked,    // also the throughput of pairs
};

// The value that replaces throughputs if all types count as alike.
enum class GavelUniform { kOne, kReference };

// Returns the problem as a policy sees it. The reference type is v100, as in the authors' runs;
// without v100, it is the type with the greatest total throughput of all jobs.
GavelProblem Seen(const GavelProblem& problem, GavelView view, GavelUniform uniform);

GavelShares NoShares(const GavelProblem& problem);
// Returns thr_m of every job.
std::vector<double> ThroughputsOf(const GavelProblem& problem, const GavelShares& shares);
// Returns prop_m. It is greater than 0 for problems that CheckThroughputs has accepted.
double ProportionalThroughput(const GavelProblem& problem, size_t job);
// Returns the throughput on the fastest type, without pairs.
double BestThroughput(const GavelJob& job);

// Return kInvalid with the field's name if a policy lacks a value: a type on which the job runs, or
// the iterations left.
Result<> CheckThroughputs(const GavelProblem& problem);
Result<> CheckStepsLeft(const GavelProblem& problem);

}  // namespace synergy
