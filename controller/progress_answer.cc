#include "controller/progress_answer.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "wire/cluster_progress.h"

namespace synergy::controller {
namespace {

// "a" of "namespace=a"; empty without it. A namespace's name has nothing to be escaped.
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

http::Response AnswerProgress(const http::Request& request, const ProgressBook& book, Instant now) {
  return {.body = wire::WriteClusterProgress(book.Read(NamespaceOf(request.query), now))};
}

}  // namespace synergy::controller
