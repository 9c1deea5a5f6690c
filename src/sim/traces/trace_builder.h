#pragma once

// Implements the rules of recorded_trace.h that all forms share.
//
// Threading: one owner.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "sim/traces/recorded_trace.h"

namespace synergy {

struct RecordedRow {
  enum class State : uint8_t { kOther, kPending, kRunning };

  std::string id;
  std::string model;
  State state = State::kOther;
  std::optional<Seconds> submitted;
  std::optional<Seconds> started;
  std::optional<Seconds> ended;
  std::optional<Seconds> duration;
  double gpus = 0;
  int32_t priority = 0;
  size_t line = 0;  // in the file; 0: unknown
};

// Reads a state as Slurm and others write it: "RUNNING", "R", "CANCELLED by 1000".
RecordedRow::State ReadRecordedState(std::string_view text);

class TraceBuilder {
 public:
  // Adds the row's job, or counts why it is omitted. `names_starts`: whether the job of a
  // row without a start never ran.
  void Add(RecordedRow row, bool names_starts);
  void LeaveOut(std::string_view reason) { Count(trace_.left_out, reason); }
  void Note(std::string_view what) { Count(trace_.notes, what); }

  // Among rows with the same id, lets the row count that was submitted (or else started) last.
  // Without this call, the last row of the file counts.
  void KeepLatest() { keeps_latest_ = true; }

  // Returns the trace; kNotFound if no job is left. Returns kInvalid, which names the job, for an
  // implausible duration, or a time far from those of the other jobs.
  Result<RecordedTrace> Finish(std::string form, std::string_view file);

 private:
  // Describes the row of a job, in the order of the trace's jobs.
  struct Origin {
    std::optional<Seconds> started;
    size_t line = 0;
  };

  void KeepLastOfEachId();
  Result<> CheckTimes(std::string_view file) const;
  static void Count(std::vector<RecordedTrace::Count>& counts, std::string_view what,
                    size_t number = 1);

  RecordedTrace trace_;
  std::vector<Origin> origins_;
  bool keeps_latest_ = false;
};

}  // namespace synergy
