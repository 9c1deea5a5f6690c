#pragma once

// Lists all objects of one kind, page by page, as they were at one moment.
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

// The field selector for pods that use a node or may still do so. Like kube-scheduler, it omits
// terminal pods.
inline constexpr char kLivingPods[] = "status.phase!=Succeeded,status.phase!=Failed";

struct ListRequest {
  std::string path;            // "/api/v1/pods"
  std::string field_selector;  // "status.phase!=Succeeded,status.phase!=Failed"
  int page_size = 500;
  std::string label_selector = {};  // "app.kubernetes.io/component=node-agent"
};

// Returns "&fieldSelector=...&labelSelector=...", without the empty parts.
std::string Selectors(const std::string& fields, const std::string& labels);

// Returns the path of a kind such as "jobs" in a group such as "/apis/x/v1/", for one namespace, or
// for all if `object_namespace` is empty.
std::string ListPath(std::string_view group, std::string_view plural,
                     const std::string& object_namespace = {});

// Passes every page, as the server sent it, to `read`, which returns the token of the next page;
// empty after the last. Halves the page size while a response exceeds the client's limit, and
// doubles it later, up to that of the request.
Result<> ForEachPage(ApiClient& client, const ListRequest& request,
                     const std::function<Result<std::string>(std::string page)>& read,
                     const std::stop_token& stop = {});

template <class T>
struct Listing {
  std::vector<T> items;
  std::string resource_version;       // of the list
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
  const auto read = [&](std::string text) -> Result<std::string> {
    Result<wire::ListPage<T>> page = reader.ReadList<T>(std::move(text));
    if (!page) return Fail(page.error());
    if (listing.resource_version.empty()) listing.resource_version = page->resource_version;
    append(listing.items, page->items);
    append(listing.problems, page->problems);
    append(listing.unread, page->unread);
    if (on_page) on_page();
    return std::move(page->continue_token);
  };
  // If the server refuses a later page because the list is too old (410), the earlier pages are
  // useless, too.
  if (const Result<> all = ForEachPage(client, request, read, stop); !all) return Fail(all.error());
  return listing;
}

// Escapes `text` for a path segment or a query value: everything except letters, digits and -._~
// (RFC 3986, section 2.1).
std::string Escape(std::string_view text);

}  // namespace synergy::kube
