#pragma once

// Lists all objects of one kind at one moment, page by page.
//
// Threading: any thread. Failures: as in ApiClient; kGone if the server discards that moment before
// the last page, and kInvalid if a response is not a list.

#include <functional>
#include <iterator>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "kube/api_client.h"
#include "wire/objects/objects.h"

namespace synergy::kube {

// The field selector for pods that use a node, or may still do so: all but the terminal ones, which
// kube-scheduler also omits.
inline constexpr char kLivingPods[] = "status.phase!=Succeeded,status.phase!=Failed";

struct ListRequest {
  std::string path;            // "/api/v1/pods"
  std::string field_selector;  // "status.phase!=Succeeded,status.phase!=Failed"
  int page_size = 500;
  std::string label_selector = {};  // "app.kubernetes.io/component=node-agent"
};

// Returns "&fieldSelector=...&labelSelector=...", without the empty parts.
std::string Selectors(const std::string& fields, const std::string& labels);

// Returns the page for this token, which is empty for the first page. `page_size`, initially the
// request's, is the number of objects to request. It is halved while a response exceeds the
// client's limit, and doubled again later.
Result<std::string> GetPage(ApiClient& client, const ListRequest& request,
                            const std::string& continue_token, int& page_size,
                            const std::stop_token& stop = {});

template <class T>
struct Listing {
  std::vector<T> items;
  std::string resource_version;       // the moment
  std::vector<std::string> problems;  // fields that could not be read
  std::vector<wire::UnreadObject<T>> unread;
};

// Calls `on_page` after each page.
template <class T>
Result<Listing<T>> ListAll(ApiClient& client, const wire::ObjectReader& reader,
                           const ListRequest& request, const std::stop_token& stop = {},
                           const std::function<void()>& on_page = {}) {
  const auto append = [](auto& all, auto& more) {
    all.insert(all.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
  };
  Listing<T> listing;
  std::string continue_token;
  int page_size = request.page_size;
  do {
    // If a later page is refused as too old (410), the earlier pages are also useless.
    Result<std::string> answer = GetPage(client, request, continue_token, page_size, stop);
    if (!answer) return Fail(answer.error());
    Result<wire::ListPage<T>> page = reader.ReadList<T>(*std::move(answer));
    if (!page) return Fail(page.error());
    if (listing.resource_version.empty()) listing.resource_version = page->resource_version;
    append(listing.items, page->items);
    append(listing.problems, page->problems);
    append(listing.unread, page->unread);
    continue_token = std::move(page->continue_token);
    if (on_page) on_page();
  } while (!continue_token.empty());
  return listing;
}

// Escapes `text` for a path segment or a query value: everything except letters, digits and -._~
// (RFC 3986, section 2.1).
std::string Escape(std::string_view text);

}  // namespace synergy::kube
