#pragma once

// What throughput costs each job at given prices of the types: the lower hull of the points
// (T_mj, s_m price_j - gain_mj) and the origin, as vertices of growing throughput. Its slopes grow.
// Types without GPUs do not count.
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
    size_t type;  // none of the origin
  };

  // `gains`: what all of its time on a type brings a job, by job and type; empty: nothing.
  explicit CostHulls(const GavelProblem& problem, std::vector<double> gains = {});

  void SetPrices(std::span<const double> prices);
  std::span<const Vertex> Of(size_t job) const { return {&vertices_[job * stride_], counts_[job]}; }
  // Between vertex i and the next.
  static double Slope(std::span<const Vertex> hull, size_t i) {
    return (hull[i + 1].cost - hull[i].cost) / (hull[i + 1].throughput - hull[i].throughput);
  }
  // The segment that leads to `throughput`: the last that begins below it.
  static size_t SegmentTo(std::span<const Vertex> hull, double throughput);
  // Adds the shares that give the job `throughput`, times `weight`, to its row; their cost, gains
  // deducted.
  static double Take(std::span<const Vertex> hull, double throughput, double weight,
                     std::span<double> row);

 private:
  size_t types_;
  size_t stride_;
  std::vector<double> gpus_;         // by job
  std::vector<double> throughputs_;  // by job and type
  std::vector<double> gains_;        // as these
  std::vector<Vertex> vertices_;
  std::vector<size_t> counts_;
};

}  // namespace synergy
