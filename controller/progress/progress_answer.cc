#include "controller/progress/progress_answer.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "wire/agents/progress.h"

namespace synergy::controller {
namespace {

// Returns "a" for "namespace=a"; empty if there is no namespace. A namespace's name needs no
// unescaping.
std::string NamespaceOf(std::string_view query) {
  constexpr std::string_view kKey = "namespace=";
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    if (part.starts_with(kKey)) return std::string(part.substr(kKey.size()));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
  }
  return {};
}

}  // namespace

http::Response ProgressAnswers::Answer(const http::Request& request) {
  return {.body = *TextFor(NamespaceOf(request.query))};
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
