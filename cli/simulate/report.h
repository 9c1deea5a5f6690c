#pragma once

// The output of `synergy simulate`: text, tables and files.
//
// Threading: pure.

#include <span>
#include <string>

#include "cli/simulate/simulation.h"

namespace synergy::cli {

std::string ToTable(std::span<const RunResult> runs);
std::string ToCsv(std::span<const RunResult> runs);
// Returns one object for a single run, otherwise an array.
std::string ToJson(std::span<const RunResult> runs);
// Returns why jobs of the run are left out; empty if none is.
std::string LeftOutReasons(const RunResult& run);
// Returns kNotFound, with the reasons, if no run measures a job.
Result<> CheckMeasured(std::span<const RunResult> runs);
// Returns a line, with the reason, for each run that measures fewer jobs than requested.
std::string LeftOutWarnings(std::span<const RunResult> runs);
// Returns a line per run and job.
std::string ToJobsCsv(std::span<const RunResult> runs);
// Returns a line per run and plan: the amounts allocated from then on.
std::string ToTimelineCsv(std::span<const RunResult> runs);
// Returns a line per run and change of a job's pod: its node, and its amounts from then on.
std::string ToChangesCsv(std::span<const RunResult> runs);
// Returns a gnuplot script that draws the distribution of completion times, mean completion time
// against load, and utilisation over time into `file`.
std::string ToGnuplot(std::span<const RunResult> runs, const std::string& file);

}  // namespace synergy::cli
