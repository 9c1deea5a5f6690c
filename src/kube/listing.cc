#include "kube/listing.h"

#include <fmt/format.h>

#include "kube/query.h"

namespace synergy::kube {

std::string Selectors(const std::string& fields, const std::string& labels) {
  std::string query;
  if (!fields.empty()) query += "&fieldSelector=" + Escape(fields);
  if (!labels.empty()) query += "&labelSelector=" + Escape(labels);
  return query;
}

std::string PagePath(const ListRequest& request, const std::string& continue_token) {
  // Without a resourceVersion the answer is up to date, not what some cache of the server has.
  std::string path = fmt::format("{}?limit={}", request.path, request.page_size);
  path += Selectors(request.field_selector, request.label_selector);
  if (!continue_token.empty()) path += "&continue=" + Escape(continue_token);
  return path;
}

}  // namespace synergy::kube
