#pragma once

// Answers GET /progress and GET /progress?namespace=NS with the contents of the store, as JSON
// (wire/agents/progress.h). Makes one answer at a time; all equal requests within a second share
// it.
//
// This file is separate because the answer needs no server and no certificates.
//
// Threading: any thread. Ownership: store and clock must outlive it.

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "controller/progress/progress_store.h"
#include "core/clock.h"
#include "http/server/server.h"

namespace synergy::controller {

class ProgressAnswers {
 public:
  static constexpr Duration kShared = std::chrono::seconds(1);

  ProgressAnswers(const ProgressStore& store, const Clock& clock) : store_(store), clock_(clock) {}

  http::Response Answer(const http::Request& request);

 private:
  std::shared_ptr<const std::string> TextFor(const std::string& pod_namespace);

  const ProgressStore& store_;
  const Clock& clock_;
  std::mutex mutex_;
  std::string namespace_;  // the request that text_ answers
  Instant made_;
  std::shared_ptr<const std::string> text_;  // null: none yet
};

}  // namespace synergy::controller
