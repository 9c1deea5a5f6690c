#pragma once

// Computes the cost of throughput for each job at given prices of the types: the lower hull of the
// origin and the points (T_mj, s_m price_j - gain_mj), as vertices of increasing throughput. Its
// slopes increase. Types without GPUs are ignored.
//
// Threading: one owner.

#include <cstddef>
#include <span>
#include <vector>

#include "gavel/problem.h"

namespace synergy {

class CostHulls {
 public:
  struct Vertex {
    double throughput;
    double cost;
    size_t type;  // undefined for the origin
  };

  // `gains`: what a job that spends all its time on a type gains, by job and type; empty: no gains.
  explicit CostHulls(const GavelProblem& problem, std::vector<double> gains = {});

  void SetPrices(std::span<const double> prices);
  std::span<const Vertex> Of(size_t job) const { return {&vertices_[job * stride_], counts_[job]}; }
  // Returns the slope between vertex i and the next.
  static double Slope(std::span<const Vertex> hull, size_t i) {
    return (hull[i + 1].cost - hull[i].cost) / (hull[i + 1].throughput - hull[i].throughput);
  }
  // Returns the last segment that begins below `throughput`.
  static size_t SegmentTo(std::span<const Vertex> hull, double throughput);
  // Adds to the job's row the shares that give it `throughput`, times `weight`. Returns their cost
  // minus the gains.
  static double Take(std::span<const Vertex> hull, double throughput, double weight,
                     std::span<double> row);

 private:
  size_t types_;
  size_t stride_;
  std::vector<double> gpus_;         // by job
  std::vector<double> throughputs_;  // by job and type
  std::vector<double> gains_;        // as throughputs_
  std::vector<Vertex> vertices_;
  std::vector<size_t> counts_;
};

}  // namespace synergy
