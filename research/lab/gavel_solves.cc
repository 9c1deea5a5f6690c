#include "research/lab/gavel_solves.h"

#include <optional>
#include <vector>

namespace synergy::cli {
namespace {

void WriteByType(json::Writer& out, const GavelProblem& problem,
                 const std::vector<double>& figures) {
  out.BeginObject();
  for (size_t type = 0; type < figures.size(); ++type) {
    out.Key(problem.types[type]);
    out.Number(figures[type]);
  }
  out.EndObject();
}

// Writes `figure` of each job that has one.
template <class Figure>
void WriteByJob(json::Writer& out, std::string_view key, const GavelProblem& problem,
                Figure figure) {
  out.Key(key);
  out.BeginObject();
  for (const GavelJob& job : problem.jobs) {
    const std::optional<double> number = figure(job);
    if (!number) continue;
    out.Key(job.name);
    out.Number(*number);
  }
  out.EndObject();
}

std::string NameOf(const GavelProblem& problem, const GavelPair& pair) {
  return problem.jobs[pair.first].name + "," + problem.jobs[pair.second].name;
}

void WritePair(json::Writer& out, const GavelProblem& problem, const GavelPair& pair) {
  out.BeginObject();
  for (size_t type = 0; type < pair.throughput.size(); ++type) {
    out.Key(problem.types[type]);
    out.BeginArray();
    for (const double throughput : pair.throughput[type]) out.Number(throughput);
    out.EndArray();
  }
  out.EndObject();
}

}  // namespace

GavelSolves::GavelSolves(std::string_view policy) {
  out_.BeginObject();
  out_.Key("policy");
  out_.Text(policy);
  out_.Key("calls");
  out_.BeginArray();
}

void GavelSolves::Add(const GavelSolve& solve) {
  const GavelProblem& problem = solve.problem;
  out_.BeginObject();
  out_.Key("time");
  out_.Number(solve.at.count());
  out_.Key("cluster_spec");
  WriteByType(out_, problem, problem.gpus);
  if (!problem.costs.empty()) {
    out_.Key("instance_costs");
    WriteByType(out_, problem, problem.costs);
  }
  out_.Key("throughputs");
  out_.BeginObject();
  for (const GavelJob& job : problem.jobs) {
    out_.Key(job.name);
    WriteByType(out_, problem, job.throughput);
  }
  for (const GavelPair& pair : problem.pairs) {
    out_.Key(NameOf(problem, pair));
    WritePair(out_, problem, pair);
  }
  out_.EndObject();
  using Job = const GavelJob&;
  using Figure = std::optional<double>;
  WriteByJob(out_, "scale_factors", problem, [](Job job) -> Figure { return job.gpus; });
  WriteByJob(out_, "priority_weights", problem, [](Job job) -> Figure { return job.weight; });
  WriteByJob(out_, "num_steps_remaining", problem, [](Job job) { return job.steps_left; });
  WriteByJob(out_, "times_since_start", problem, [](Job job) -> Figure { return job.waited; });
  WriteByJob(out_, "SLOs", problem, [](Job job) { return job.deadline; });
  out_.Key("objective");
  solve.answer.objective ? out_.Number(*solve.answer.objective) : out_.Raw("null");
  out_.Key("allocation");
  out_.BeginObject();
  for (size_t job = 0; job < problem.jobs.size(); ++job) {
    out_.Key(problem.jobs[job].name);
    WriteByType(out_, problem, solve.answer.shares.jobs[job]);
  }
  for (size_t pair = 0; pair < solve.answer.shares.pairs.size(); ++pair) {
    out_.Key(NameOf(problem, problem.pairs[pair]));
    WriteByType(out_, problem, solve.answer.shares.pairs[pair]);
  }
  out_.EndObject();
  out_.EndObject();
}

std::string GavelSolves::Take() {
  out_.EndArray();
  out_.EndObject();
  return out_.Take() + "\n";
}

}  // namespace synergy::cli
