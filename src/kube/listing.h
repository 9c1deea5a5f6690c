#pragma once

// Everything of one kind that the API server has at one moment, page by page.
//
// Threading: from any thread.
// Failures: as ApiClient says; kGone when the server has forgotten that moment before the last
// page, kInvalid when an answer is no list.

#include <functional>
#include <iterator>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "kube/api_client.h"
#include "wire/objects/objects.h"

namespace synergy::kube {

// The field selector of pods that take something from a node, or may yet: not the terminal ones,
// which kube-scheduler leaves out in the same way.
inline constexpr char kLivingPods[] = "status.phase!=Succeeded,status.phase!=Failed";

struct ListRequest {
  std::string path;            // "/api/v1/pods"
  std::string field_selector;  // "status.phase!=Succeeded,status.phase!=Failed"
  int page_size = 500;
  std::string label_selector = {};  // "app.kubernetes.io/component=node-agent"
};

// "&fieldSelector=...&labelSelector=...", or what of it is not empty.
std::string Selectors(const std::string& fields, const std::string& labels);

// The page that follows the one with this token, which is empty for the first. `page_size`, which
// begins as the request's, is how many objects are asked for: fewer, by halves, where an answer is
// larger than the client takes, and as many as before again after that.
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

// `on_page` is called after each page.
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
    // When a later page is refused as too old (410), the pages before it are of no use either.
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

}  // namespace synergy::kube
