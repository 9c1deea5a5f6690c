#include "controller/progress/progress_answer.h"

#include <string>

#include "wire/agents/progress.h"

namespace synergy::controller {

http::Response ProgressAnswers::Answer(const http::Request& request) {
  return {.body = *TextFor(std::string(request.Parameter("namespace")))};
}

std::shared_ptr<const std::string> ProgressAnswers::TextFor(const std::string& pod_namespace) {
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.Now();
  if (text_ != nullptr && namespace_ == pod_namespace && now - made_ < kShared) return text_;
  text_ = std::make_shared<const std::string>(
      wire::WriteClusterProgress(store_.Read(pod_namespace, now)));
  namespace_ = pod_namespace;
  made_ = now;
  return text_;
}

}  // namespace synergy::controller
