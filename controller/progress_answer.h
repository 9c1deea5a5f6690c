#pragma once

// GET /progress and GET /progress?namespace=NS: what the book has, in JSON
// (wire/cluster_progress.h).
//
// Threading: from any thread.

#include "controller/progress_book.h"
#include "core/clock.h"
#include "http/server.h"

namespace synergy::controller {

http::Response AnswerProgress(const http::Request& request, const ProgressBook& book, Instant now);

}  // namespace synergy::controller
