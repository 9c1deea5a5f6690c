#include "research/lab/gavel_command.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "gavel/policies/policies.h"
#include "json/writer.h"

namespace synergy::cli {
namespace {

// Reads one byte more than allowed, to detect input that is too long.
Result<std::string> ReadAtMost(std::istream& in, size_t most) {
  std::string text(most + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() <= most) return text;
  return Fail(ErrorCode::kInvalid, fmt::format("more than {} MiB", most / 1024 / 1024));
}

Result<std::string> ReadInput(const std::string& file) {
  if (file == "-") return ReadAtMost(std::cin, kMostGavelBytes);
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("cannot read {}; name a JSON file, or - for standard input", file));
  }
  return ReadAtMost(in, kMostGavelBytes);
}

std::string PairName(const GavelProblem& problem, size_t pair) {
  return problem.jobs[problem.pairs[pair].first].name + "," +
         problem.jobs[problem.pairs[pair].second].name;
}

// Calls visit(name, shares per type) for each job and pair.
template <class Visit>
void ForEachRow(const GavelSolved& solved, Visit visit) {
  const GavelShares& shares = solved.answer.shares;
  for (size_t job = 0; job < shares.jobs.size(); ++job)
    visit(solved.problem.jobs[job].name, shares.jobs[job]);
  for (size_t pair = 0; pair < shares.pairs.size(); ++pair)
    visit(PairName(solved.problem, pair), shares.pairs[pair]);
}

void WriteAnswer(json::Writer& out, const GavelSolved& solved) {
  out.BeginObject();
  out.Key("objective");
  solved.answer.objective ? out.Number(*solved.answer.objective) : out.Raw("null");
  out.Key("allocation");
  out.BeginObject();
  ForEachRow(solved, [&](const std::string& name, const std::vector<double>& row) {
    out.Key(name);
    out.BeginObject();
    for (size_t type = 0; type < row.size(); ++type) {
      out.Key(solved.problem.types[type]);
      out.Number(row[type]);
    }
    out.EndObject();
  });
  out.EndObject();
  out.Key("infeasible_SLOs");
  out.BeginArray();
  for (const size_t job : solved.answer.missed) out.Text(solved.problem.jobs[job].name);
  out.EndArray();
  out.EndObject();
}

}  // namespace

std::string ToText(std::span<const GavelSolved> solved) {
  std::string text;
  for (const GavelSolved& each : solved) {
    if (!text.empty()) text += "\n";
    if (each.answer.objective) text += fmt::format("objective {:.6g}\n", *each.answer.objective);
    text += fmt::format("{:<16}", "JOB");
    for (const std::string& type : each.problem.types) text += fmt::format(" {:>10}", type);
    text += "\n";
    ForEachRow(each, [&](const std::string& name, const std::vector<double>& row) {
      text += fmt::format("{:<16}", name);
      for (const double share : row) text += fmt::format(" {:>10.4f}", share);
      text += "\n";
    });
    for (const size_t job : each.answer.missed) {
      text += fmt::format("the deadline of job {} cannot be kept beside the others\n",
                          each.problem.jobs[job].name);
    }
  }
  return text;
}

std::string ToJson(std::span<const GavelSolved> solved, bool list) {
  json::Writer out;
  if (list) out.BeginArray();
  for (const GavelSolved& each : solved) WriteAnswer(out, each);
  if (list) out.EndArray();
  return out.Take() + "\n";
}

CLI::App* AddGavelSolve(CLI::App& gavel, GavelArguments& arguments) {
  CLI::App* solve = gavel.add_subcommand(
      "solve", "Print which part of its time each job spends on each GPU type, by a policy");
  solve->add_option("--policy", arguments.policy, "the policy's name")->required();
  solve->add_option("--input", arguments.input, "a JSON file, or - for standard input")->required();
  solve->add_option("-o,--output", arguments.output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  return solve;
}

Result<> RunGavelSolve(const GavelArguments& arguments) {
  const Result<std::unique_ptr<GavelPolicy>> policy = MakeGavelPolicy(arguments.policy);
  if (!policy) return Fail(policy.error());
  const auto in_file = [&](const Error& error) {
    return Fail(error.code, fmt::format("{}: {}", arguments.input, error.message));
  };
  const Result<std::string> text = ReadInput(arguments.input);
  if (!text) return Fail(text.error());
  Result<GavelInput> input = ReadGavelInput(*text);
  if (!input) return in_file(input.error());
  std::vector<GavelSolved> solved;
  for (GavelProblem& problem : input->problems) {
    Result<GavelAnswer> answer = (*policy)->Allocate(problem);
    if (!answer) return in_file(answer.error());
    solved.push_back({std::move(problem), std::move(*answer)});
  }
  fmt::print("{}", arguments.output == "json" ? ToJson(solved, input->calls) : ToText(solved));
  return {};
}

}  // namespace synergy::cli
