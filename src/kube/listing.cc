#include "kube/listing.h"

#include <fmt/format.h>

#include "kube/query.h"

namespace synergy::kube {

std::string PagePath(const ListRequest& request, const std::string& continue_token) {
  // Without a resourceVersion the answer is up to date, not what some cache of the server has.
  std::string path = fmt::format("{}?limit={}", request.path, request.page_size);
  if (!request.field_selector.empty()) path += "&fieldSelector=" + Escape(request.field_selector);
  if (!continue_token.empty()) path += "&continue=" + Escape(continue_token);
  return path;
}

}  // namespace synergy::kube
