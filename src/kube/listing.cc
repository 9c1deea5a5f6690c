#include "kube/listing.h"

#include <algorithm>

#include <fmt/format.h>

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
    // Without a resourceVersion, the response is current and does not come from a cache of the
    // server.
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

std::string Escape(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      escaped += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      escaped += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return escaped;
}

}  // namespace synergy::kube
