#pragma once

// What `synergy simulate` prints and writes.
//
// Threading: pure.

#include <span>
#include <string>

#include "cli/simulate/simulation.h"

namespace synergy::cli {

std::string ToTable(std::span<const RunResult> runs);
std::string ToCsv(std::span<const RunResult> runs);
// One object for one run, else an array.
std::string ToJson(std::span<const RunResult> runs);
// A line per run that measures fewer jobs than were asked for, with the reason; else nothing.
std::string LeftOutWarnings(std::span<const RunResult> runs);
// A line per run and job.
std::string ToJobsCsv(std::span<const RunResult> runs);
// A line per run and plan: what was allocated from then on.
std::string ToTimelineCsv(std::span<const RunResult> runs);
// A line per run and change of a job's pod: where it went, and what it has from then on.
std::string ToChangesCsv(std::span<const RunResult> runs);
// A gnuplot script that draws the completion times' distribution, mean completion time against load
// and utilisation over time into `file`.
std::string ToGnuplot(std::span<const RunResult> runs, const std::string& file);

}  // namespace synergy::cli
