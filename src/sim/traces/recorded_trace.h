#pragma once

// Reads jobs that a cluster has recorded, with durations, in the forms that planners have
// (docs/plan.md). The form is recognised from the text.
//
// The same rules apply to all forms:
//   time       the first submission is 0. A time without a zone is UTC: only differences count. A
//              job without a submission arrives at its start or, if that is missing, at its end
//              minus its duration.
//   duration   the recorded one, else from start to end. For Helios and Acme, from start to end if
//              both are recorded, because some of Acme's durations include the time in the queue. A
//              job that still runs counts with the time so far.
//   GPUs       of the whole job; a fraction is rounded up.
//   rows       in any order; of the jobs with the same id the last one counts (of Slurm's, the one
//              that was submitted or started last).
//   left out   steps, pending jobs, and jobs that never ran, have no GPUs, or have a duration of 0
//              or less. All are counted.
// A field whose content does not match its column is an error.
//
// Threading: pure.
// Failures: kInvalid with file, line, column, value and the cure; kNotFound if no job is left.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"

namespace synergy {

struct RecordedJob {
  std::string id;
  std::string model;    // empty: unknown
  Seconds submitted{};  // since the first job
  Seconds duration{};
  Gpus gpus;
  int32_t priority = 0;
};

struct RecordedTrace {
  using Count = std::pair<std::string, size_t>;

  std::string form;               // "Slurm sacct"
  std::vector<RecordedJob> jobs;  // by submission
  std::vector<Count> left_out;    // "pending", 4
  std::vector<Count> notes;       // "still running, counted with the time so far", 3

  // Returns text such as "read as Slurm sacct: 1200 jobs, left out: 30 steps, 4 pending; note:
  // ...".
  std::string Describe() const;
};

enum class TraceForm {
  kIterations,  // trace.h
  kJson,
  kPlain,   // job_id, submit_time, duration_s, gpus
  kSlurm,   // sacct -P
  kHelios,  // Helios and Acme
  kPaiJobs,
  kPaiTasks,
};

struct RecognizedTrace {
  TraceForm form = TraceForm::kPlain;
  char separator = ',';
  bool has_header = true;
};

// Returns kInvalid, which lists the forms, if it recognises none. An empty text has the form
// kIterations.
Result<RecognizedTrace> RecognizeTrace(std::string_view text, std::string_view file);

// REQUIRES: `form` is the form of the text, and is kPlain, kSlurm, kHelios or kPaiTasks.
Result<RecordedTrace> ReadRecordedTrace(std::string_view text, std::string_view file,
                                        const RecognizedTrace& form);

// One table of Alibaba's PAI trace.
struct PaiTable {
  std::string_view text;
  std::string_view file;
  RecognizedTrace form;
};

// Joins Alibaba's tables of jobs and tasks (cluster-trace-gpu-v2020) by job_name. A job has the
// GPUs of all instances of its tasks together, and runs from the first start to the last end of
// those with GPUs. `jobs`: if absent, jobs arrive when their first task starts.
Result<RecordedTrace> ReadPaiTrace(const PaiTable& tasks, const std::optional<PaiTable>& jobs);

}  // namespace synergy
