#pragma once

// Determines why a job failed: category, cause, whether it happens again, and how to react.
//
// Evidence is used in this order:
//   1. a GPU's hardware fault (an Xid)
//   2. the platform's reason, such as an OOM kill
//   3. a cause in the log
//   4. the failure of another process
//   5. an application's Xid, if the log shows at most a signal
//   6. the exit code
//
// A cause in the log of any gang member takes precedence over its consequences for the others.
// Synergy's own actions may change the cause, but never the category.
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
  std::string reason;                   // the container's, otherwise the pod's
  std::string message;                  // the message for that reason
  std::vector<std::string> conditions;  // "TYPE/REASON" of the pod's or job's conditions
  std::vector<SeenXid> xids;            // of the pod's GPUs
  std::optional<int64_t> iterations;    // iterations done; if absent, the logs show them
  bool shared_gpu = false;              // whether another pod shared the pod's GPU
  std::vector<OwnAct> acts;
  std::vector<LogReading> logs;  // one per process of the job
};

struct JobFailure {
  Category category = Category::kUnknown;
  Outcome outcome;
  std::string rule;             // name of the rule; empty for kUnknown
  std::string evidence;         // the line that shows it (evidence.h); may be empty
  std::optional<Act> act = {};  // Synergy's action that can have caused it
};

// Returns nullopt if the job did not fail.
std::optional<JobFailure> Classify(const FailureFacts& facts);

}  // namespace synergy
