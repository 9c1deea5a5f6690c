#pragma once

// Says why a job failed: category, cause, whether it fails again, and what to do.
//
// Precedence: a GPU's hardware fault, the platform's reason, the kernel's evidence of memory, a
// cause in the log, the failure of another process, the exit code. A cause in the log of any member
// of a gang takes precedence over its consequences for the others. Synergy's own doing changes the
// cause of a category, never the category.
//
// Threading: pure. Time: proportional to the size of the message.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "failure/category.h"
#include "failure/log_findings.h"
#include "failure/own_doing.h"

namespace synergy {

struct SeenXid {
  int xid = 0;
  Duration before_end{};
};

struct FailureFacts {
  std::optional<int> exit_code;         // of the container; 128 + N after signal N
  std::string reason;                   // the container's, else the pod's
  std::string message;                  // that goes with it
  std::vector<std::string> conditions;  // "TYPE/REASON" of the pod's or job's conditions
  std::vector<SeenXid> xids;            // of the pod's GPUs
  std::optional<int64_t> iterations;    // that were seen; by the logs if absent
  bool shared_gpu = false;              // with another pod
  std::vector<OwnAct> acts;
  std::vector<LogReading> logs;  // one for each of the job's processes
};

struct JobFailure {
  Category category = Category::kUnknown;
  Outcome outcome;
  std::string rule;             // its name; empty for kUnknown
  std::string evidence;         // the line that shows it (evidence.h); empty if there is none
  std::optional<Act> act = {};  // of Synergy, if one can have caused it
};

// Returns none if the job did not fail.
std::optional<JobFailure> Classify(const FailureFacts& facts);

}  // namespace synergy
