#include "kube/listing.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "kube/query.h"

namespace synergy::kube {
namespace {

// Which of the reader's calls belongs to a type.
template <class T>
struct Codec;
template <>
struct Codec<Pod> {
  static constexpr auto kReadList = &json::ObjectReader::ReadPodList;
};
template <>
struct Codec<Node> {
  static constexpr auto kReadList = &json::ObjectReader::ReadNodeList;
};
template <>
struct Codec<DisruptionBudget> {
  static constexpr auto kReadList = &json::ObjectReader::ReadDisruptionBudgetList;
};
template <>
struct Codec<json::ResizeStatus> {
  static constexpr auto kReadList = &json::ObjectReader::ReadResizeStatusList;
};
template <>
struct Codec<Namespace> {
  static constexpr auto kReadList = &json::ObjectReader::ReadNamespaceList;
};
template <>
struct Codec<ProfileObject> {
  static constexpr auto kReadList = &json::ObjectReader::ReadProfileList;
};
template <>
struct Codec<json::PodEvent> {
  static constexpr auto kReadList = &json::ObjectReader::ReadPodEventList;
};

}  // namespace

template <class T>
Result<Listing<T>> ListAll(ApiClient& client, const json::ObjectReader& reader,
                           const ListRequest& request, std::stop_token stop,
                           const std::function<void()>& on_page) {
  Listing<T> listing;
  std::string continue_token;
  do {
    // Without a resourceVersion the answer is up to date, not what some cache of the server has.
    std::string path = fmt::format("{}?limit={}", request.path, request.page_size);
    if (!request.field_selector.empty()) path += "&fieldSelector=" + Escape(request.field_selector);
    if (!continue_token.empty()) path += "&continue=" + Escape(continue_token);
    // When a later page is refused as too old (410), the pages before it are of no use either.
    const Result<std::string> answer = client.Get(path, stop);
    if (!answer) return Fail(answer.error());
    Result<json::ListPage<T>> page = (reader.*Codec<T>::kReadList)(*answer);
    if (!page) return Fail(page.error());
    if (listing.resource_version.empty()) listing.resource_version = page->resource_version;
    listing.items.insert(listing.items.end(), std::move_iterator(page->items.begin()),
                         std::move_iterator(page->items.end()));
    listing.problems.insert(listing.problems.end(), std::move_iterator(page->problems.begin()),
                            std::move_iterator(page->problems.end()));
    continue_token = std::move(page->continue_token);
    if (on_page) on_page();
  } while (!continue_token.empty());
  return listing;
}

template Result<Listing<Pod>> ListAll(ApiClient&, const json::ObjectReader&, const ListRequest&,
                                      std::stop_token, const std::function<void()>&);
template Result<Listing<Node>> ListAll(ApiClient&, const json::ObjectReader&, const ListRequest&,
                                       std::stop_token, const std::function<void()>&);
template Result<Listing<DisruptionBudget>> ListAll(ApiClient&, const json::ObjectReader&,
                                                   const ListRequest&, std::stop_token,
                                                   const std::function<void()>&);
template Result<Listing<json::ResizeStatus>> ListAll(ApiClient&, const json::ObjectReader&,
                                                     const ListRequest&, std::stop_token,
                                                     const std::function<void()>&);
template Result<Listing<Namespace>> ListAll(ApiClient&, const json::ObjectReader&,
                                            const ListRequest&, std::stop_token,
                                            const std::function<void()>&);
template Result<Listing<ProfileObject>> ListAll(ApiClient&, const json::ObjectReader&,
                                                const ListRequest&, std::stop_token,
                                                const std::function<void()>&);
template Result<Listing<json::PodEvent>> ListAll(ApiClient&, const json::ObjectReader&,
                                                 const ListRequest&, std::stop_token,
                                                 const std::function<void()>&);

}  // namespace synergy::kube
