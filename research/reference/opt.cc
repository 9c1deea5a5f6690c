#include "research/reference/opt.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "solver/solve.h"

namespace synergy::reference {
namespace {

// The time suffices for any cluster, so the node limit, which is reproducible, ends a search.
constexpr SolveLimits kLimits{.time = std::chrono::minutes(1), .nodes = 20'000};

}  // namespace

Result<> Opt::Allocate(std::span<Job* const> ordered, std::vector<Job*>& running) {
  if (ordered.empty()) return {};
  const auto groups = GroupsOf(ordered);
  if (!groups) return Fail(groups.error());
  const auto counts = Choose(*groups);
  if (!counts) return Fail(counts.error());
  auto count = counts->begin();
  for (const Group& group : *groups) {
    auto job = group.jobs.begin();
    for (const Cell& cell : group.cells) {
      for (auto left = std::llround(*count++); left > 0; --left) {
        Job& next = **job++;
        next.charged = static_cast<int64_t>(
            std::floor(round_.duration / (next.iteration_time / cell.throughput)));
        if (next.charged < 1) {
          return Fail(ErrorCode::kInvalid,
                      fmt::format("job {}: no iteration fits into a round at its fair share, and "
                                  "the job would never end: use longer rounds",
                                  next.id));
        }
        next.ChargeRoundAgain(round_.duration);
        if (auto taken = round_.cluster.Take(next, {}); !taken) return taken;
      }
    }
  }
  running.assign(ordered.begin(), ordered.end());
  return {};
}

Result<std::vector<Opt::Cell>> Opt::CellsOf(const Job& job) const {
  const ModelFact& fact = *job.fact;
  const Amounts& fair = round_.cluster.fair();
  std::vector<Cell> cells;
  std::optional<double> least;
  for (size_t cpu = 0; cpu < fact.cpus.size(); ++cpu) {
    for (size_t memory = 0; memory < fact.memories.size(); ++memory) {
      const Cell cell{ToCores(fact.cpus[cpu]), ToGb(fact.memories[memory]),
                      fact.throughput[cpu * fact.memories.size() + memory]};
      if (cell.cpu == fair[kCpu] && cell.memory == fair[kMemory]) least = cell.throughput;
      // Cells that dominate others came earlier.
      const bool dominated = std::any_of(cells.begin(), cells.end(), [&](const Cell& other) {
        return other.memory <= cell.memory && other.throughput >= cell.throughput;
      });
      if (!dominated) cells.push_back(cell);
    }
  }
  if (!least) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("job {}: its model's throughput was not measured with the fair share "
                            "of {:g} CPUs and {:g} GB per GPU; the authors' program ends here: use "
                            "other servers, or measure the model",
                            job.id, fair[kCpu], fair[kMemory]));
  }
  std::erase_if(cells, [&](const Cell& cell) { return cell.throughput < *least; });
  std::stable_sort(cells.begin(), cells.end(),
                   [](const Cell& a, const Cell& b) { return a.throughput > b.throughput; });
  return cells;
}

Result<std::vector<Opt::Group>> Opt::GroupsOf(std::span<Job* const> jobs) const {
  std::vector<Group> groups;
  std::map<std::pair<const ModelFact*, int>, size_t> numbers;
  for (Job* const job : jobs) {
    const auto [number, is_new] = numbers.try_emplace({job->fact, job->gpus}, groups.size());
    if (is_new) {
      auto cells = CellsOf(*job);
      if (!cells) return Fail(cells.error());
      groups.push_back({*std::move(cells), {}});
    }
    groups[number->second].jobs.push_back(job);
  }
  return groups;
}

Result<std::vector<double>> Opt::Choose(const std::vector<Group>& groups) const {
  const Amounts total = round_.cluster.Total();
  Program program{.sense = Sense::kMaximize};
  Row cpu{.upper = total[kCpu]};
  Row memory{.upper = total[kMemory]};
  for (const Group& group : groups) {
    const auto jobs = static_cast<double>(group.jobs.size());
    const double gpus = group.jobs.front()->gpus;
    Row all{.lower = jobs, .upper = jobs};
    for (const Cell& cell : group.cells) {
      const size_t variable = program.variables.size();
      program.variables.push_back({.upper = jobs, .objective = cell.throughput, .integer = true});
      all.terms.push_back({variable, 1});
      cpu.terms.push_back({variable, cell.cpu * gpus});
      memory.terms.push_back({variable, cell.memory * gpus});
    }
    program.rows.push_back(std::move(all));
  }
  program.rows.push_back(std::move(cpu));
  program.rows.push_back(std::move(memory));
  auto solution = Solve(program, kLimits);
  if (!solution) return Fail(solution.error());
  if (solution->values.empty()) {
    return Fail(ErrorCode::kInvalid,
                "the jobs' fair shares do not fit into the cluster; the authors' program ends "
                "here: these servers and jobs are incompatible");
  }
  return std::move(solution->values);
}

}  // namespace synergy::reference
