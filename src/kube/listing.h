#pragma once

// Everything of one kind that the API server has at one moment, page by page.
//
// Threading: from any thread.
// Failures: as ApiClient says; kGone when the server has forgotten that moment before the last
// page, kInvalid when an answer is no list.

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/result.h"
#include "json/objects.h"
#include "kube/api_client.h"

namespace synergy::kube {

struct ListRequest {
  std::string path;            // "/api/v1/pods"
  std::string field_selector;  // "status.phase!=Succeeded,status.phase!=Failed"
  int page_size = 500;
};

template <class T>
struct Listing {
  std::vector<T> items;
  std::string resource_version;       // the moment
  std::vector<std::string> problems;  // fields that could not be read
};

// `on_page` is called after each page.
template <class T>
Result<Listing<T>> ListAll(ApiClient& client, const json::ObjectReader& reader,
                           const ListRequest& request, std::stop_token stop = {},
                           const std::function<void()>& on_page = {});

extern template Result<Listing<Pod>> ListAll(ApiClient&, const json::ObjectReader&,
                                             const ListRequest&, std::stop_token,
                                             const std::function<void()>&);
extern template Result<Listing<Node>> ListAll(ApiClient&, const json::ObjectReader&,
                                              const ListRequest&, std::stop_token,
                                              const std::function<void()>&);
extern template Result<Listing<DisruptionBudget>> ListAll(ApiClient&, const json::ObjectReader&,
                                                          const ListRequest&, std::stop_token,
                                                          const std::function<void()>&);
extern template Result<Listing<json::ResizeStatus>> ListAll(ApiClient&, const json::ObjectReader&,
                                                            const ListRequest&, std::stop_token,
                                                            const std::function<void()>&);
extern template Result<Listing<Namespace>> ListAll(ApiClient&, const json::ObjectReader&,
                                                   const ListRequest&, std::stop_token,
                                                   const std::function<void()>&);
extern template Result<Listing<ProfileObject>> ListAll(ApiClient&, const json::ObjectReader&,
                                                       const ListRequest&, std::stop_token,
                                                       const std::function<void()>&);
extern template Result<Listing<json::PodEvent>> ListAll(ApiClient&, const json::ObjectReader&,
                                                        const ListRequest&, std::stop_token,
                                                        const std::function<void()>&);

}  // namespace synergy::kube
