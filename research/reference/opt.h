#pragma once

// Synergy-Opt as the authors run it. All jobs whose GPUs fit into the cluster together run, each
// with a cell of its model's matrix. The sum of the jobs' normalised throughputs is maximal, and no
// job is slower than with its fair share; the cluster counts as one machine. The authors' second
// program places the result on servers in fractions. It influences nothing, and nothing counts as
// allocated.
//
// Many choices have the same sum. Which of them the authors' solver returns depends on its
// implementation, so individual jobs differ from those of the authors' runs. Here earlier jobs of a
// model get its faster cells.

#include <vector>

#include "research/reference/mechanism.h"

namespace synergy::reference {

class Opt final : public Mechanism {
 public:
  explicit Opt(const Round& round) : round_(round) {}

  bool ChoosesTogether() const override { return true; }
  Result<> Allocate(std::span<Job* const> ordered, std::vector<Job*>& running) override;

 private:
  // A way to serve a job; amounts are per GPU.
  struct Cell {
    double cpu = 0;
    double memory = 0;
    double throughput = 0;
  };
  // Jobs with the same model and the same number of GPUs.
  struct Group {
    std::vector<Cell> cells;  // fastest first
    std::vector<Job*> jobs;
  };

  // Returns the cells of the job's model that are as fast as the fair share's cell and not
  // dominated. Returns kInvalid if the matrix has no cell with the fair share.
  Result<std::vector<Cell>> CellsOf(const Job& job) const;
  Result<std::vector<Group>> GroupsOf(std::span<Job* const> jobs) const;
  // Returns how many jobs of each group get each cell, ordered by group, then by cell.
  Result<std::vector<double>> Choose(const std::vector<Group>& groups) const;

  Round round_;
};

}  // namespace synergy::reference
