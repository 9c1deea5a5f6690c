#include "kube/listing.h"

#include <algorithm>

#include <fmt/format.h>

#include "kube/query.h"

namespace synergy::kube {

std::string Selectors(const std::string& fields, const std::string& labels) {
  std::string query;
  if (!fields.empty()) query += "&fieldSelector=" + Escape(fields);
  if (!labels.empty()) query += "&labelSelector=" + Escape(labels);
  return query;
}

Result<std::string> GetPage(ApiClient& client, const ListRequest& request,
                            const std::string& continue_token, int& page_size,
                            const std::stop_token& stop) {
  while (true) {
    // Without a resourceVersion, the response is up to date and not from a cache of the server.
    std::string path = fmt::format("{}?limit={}", request.path, page_size);
    path += Selectors(request.field_selector, request.label_selector);
    if (!continue_token.empty()) path += "&continue=" + Escape(continue_token);
    Result<std::string> answer = client.Get(path, stop);
    if (answer) {
      page_size = std::min(page_size * 2, request.page_size);
      return answer;
    }
    if (answer.error().code != ErrorCode::kTooLarge || page_size == 1) return answer;
    page_size /= 2;
  }
}

}  // namespace synergy::kube
