#pragma once

// The queue planner's steps as lines of a recording: {"queues":"Planned", ...}.
//
// This file is separate because journals of clusters, decisions and queues are read independently.
//
// Threading: pure.

#include <string>
#include <string_view>

#include "core/result.h"
#include "queues/planner/queue_journal.h"

namespace synergy::wire {

std::string_view NameOf(const QueueStep& step);  // "Planned"

// Returns one line, without a newline.
std::string WriteQueueLine(const QueueStep& step);
// Omits the plan, which a replay computes again. Returns kInvalid, with the error.
Result<QueueStep> ReadQueueLine(std::string_view line);

}  // namespace synergy::wire
