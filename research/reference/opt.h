#pragma once

// Synergy-Opt as the authors run it: the jobs whose GPUs fit into the cluster together all run,
// each at a cell of its model's matrix, so that the sum of the jobs' normalised throughputs is
// maximal and none is below its fair share's; the cluster counts as one machine. A second program
// of theirs places the result on servers in fractions, which has no influence on anything; nor is
// anything counted as allocated.
//
// Many choices have the same sum. The choice of the authors' solver depends on its inner workings,
// so runs differ from theirs job by job. Here earlier jobs of a model get its faster cells.

#include <vector>

#include "research/reference/mechanism.h"

namespace synergy::reference {

class Opt final : public Mechanism {
 public:
  explicit Opt(const Round& round) : round_(round) {}

  bool ChoosesTogether() const override { return true; }
  Result<> Allocate(std::span<Job* const> ordered, std::vector<Job*>& running) override;

 private:
  // A way to serve a job, per GPU.
  struct Cell {
    double cpu = 0;
    double memory = 0;
    double throughput = 0;
  };
  // Jobs with the same model and GPU count.
  struct Group {
    std::vector<Cell> cells;  // the fastest first
    std::vector<Job*> jobs;
  };

  // Returns the cells of the job's model that are no slower than the fair share's and not
  // dominated. kInvalid: its matrix has no cell with the fair share.
  Result<std::vector<Cell>> CellsOf(const Job& job) const;
  Result<std::vector<Group>> GroupsOf(std::span<Job* const> jobs) const;
  // Returns how many jobs of each group get each cell, by group, then cell.
  Result<std::vector<double>> Choose(const std::vector<Group>& groups) const;

  Round round_;
};

}  // namespace synergy::reference
