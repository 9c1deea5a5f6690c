#pragma once

// What Gavel's policies decide about (Narayanan et al., "Heterogeneity-Aware Cluster Scheduling
// Policies for Deep Learning Workloads", OSDI'20, sections 3 and 4): jobs m, GPU types j, and which
// part x_mj of its time each job spends on each type.
//
//   T_mj      iterations per second of job m on type j      thr_m = sum_j T_mj x_mj
//   s_m       GPUs of job m                                 sum_j x_mj <= 1
//   n_j       GPUs of type j                                sum_m s_m x_mj <= n_j
//   w_m       weight of job m                               x_mj >= 0
//   prop_m    sum_j T_mj n_j / sum_j n_j: its throughput when its time is divided as the GPUs are
//
// With packing, pairs of jobs with equal s share GPUs: then the sums go over every combination that
// a job is part of, a pair counting once for the GPUs. A job that is larger than a type may have
// time there all the same, as in the paper; whoever carries the times out gives it none.
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
  double waited = 0;                 // since the job came
};

// Two jobs of as many GPUs on the same ones.
struct GavelPair {
  size_t first = 0;
  size_t second = 0;
  std::vector<std::array<double, 2>> throughput;  // per type: of the first, of the second
};

struct GavelEntity {
  std::string name;
  double weight = 1;
  bool fifo = false;  // its jobs one after the other; else by their weights
  std::vector<size_t> jobs;
};

struct GavelProblem {
  std::vector<std::string> types;
  std::vector<double> gpus;   // per type
  std::vector<double> costs;  // per type; empty: not known
  std::vector<GavelJob> jobs;
  std::vector<GavelPair> pairs;
  std::vector<GavelEntity> entities;  // each job in one; empty: none
};

// Per type, of each job and of each pair.
struct GavelShares {
  std::vector<std::vector<double>> jobs;
  std::vector<std::vector<double>> pairs;
};

struct GavelAnswer {
  // What the policy makes least or greatest; none where it has no such figure.
  std::optional<double> objective;
  GavelShares shares;
  std::vector<size_t> missed;  // jobs whose deadlines are given up
};

// What a policy sees of the types.
enum class GavelView {
  kAgnostic,  // all types as one
  kAware,     // each job's throughput on each type
  kPacked,    // that of pairs too
};

// What takes the place of throughputs when all types are as one.
enum class GavelUniform { kOne, kReference };

// The problem as a policy sees it. The reference type is v100 as in the authors' runs, else the one
// with the greatest throughput of all jobs together.
GavelProblem Seen(const GavelProblem& problem, GavelView view, GavelUniform uniform);

GavelShares NoShares(const GavelProblem& problem);
// thr_m of every job.
std::vector<double> ThroughputsOf(const GavelProblem& problem, const GavelShares& shares);
// prop_m. Greater than 0 for what CheckThroughputs has passed.
double ProportionalThroughput(const GavelProblem& problem, size_t job);
// On the fastest type; pairs left aside.
double BestThroughput(const GavelJob& job);

// kInvalid with the field's name, where a policy needs what is not there: a type on which the job
// runs, iterations that are left.
Result<> CheckThroughputs(const GavelProblem& problem);
Result<> CheckStepsLeft(const GavelProblem& problem);

}  // namespace synergy
