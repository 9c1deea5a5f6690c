#include "kube/listing.h"

#include <algorithm>

#include <fmt/format.h>

namespace synergy::kube {
namespace {

// Returns the page for this token, which is empty for the first page.
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

}  // namespace

std::string Selectors(const std::string& fields, const std::string& labels) {
  std::string query;
  if (!fields.empty()) query += "&fieldSelector=" + Escape(fields);
  if (!labels.empty()) query += "&labelSelector=" + Escape(labels);
  return query;
}

std::string ListPath(std::string_view group, std::string_view plural,
                     const std::string& object_namespace) {
  if (object_namespace.empty()) return fmt::format("{}{}", group, plural);
  return fmt::format("{}namespaces/{}/{}", group, Escape(object_namespace), plural);
}

Result<> ForEachPage(ApiClient& client, const ListRequest& request,
                     const std::function<Result<std::string>(std::string page)>& read,
                     const std::stop_token& stop) {
  std::string continue_token;
  int page_size = request.page_size;
  do {
    Result<std::string> page = GetPage(client, request, continue_token, page_size, stop);
    if (!page) return Fail(page.error());
    Result<std::string> next = read(*std::move(page));
    if (!next) return Fail(next.error());
    continue_token = *std::move(next);
  } while (!continue_token.empty());
  return {};
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
