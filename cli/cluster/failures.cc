#include "cli/cluster/failures.h"

#include <utility>

#include <fmt/format.h>

#include "kube/apis/failures/failure_api.h"
#include "kube/apis/failures/retry_api.h"

namespace synergy::cli {

RecordedFailures ReadFailures(kube::ApiClient& client, const wire::ObjectReader& reader,
                              const std::string& synergy_namespace,
                              const std::string& pod_namespace) {
  RecordedFailures facts;
  const auto api = kube::MakeFailureApi(client, client, reader, synergy_namespace);
  Error error;
  if (pod_namespace.empty()) {
    auto all = api->ListHistories({});
    if (all) {
      facts.histories = *std::move(all);
      return facts;
    }
    error = all.error();
  } else {
    auto one = api->ReadHistory(pod_namespace, {});
    if (one) facts.histories.push_back(*std::move(one));
    if (one || one.error().code == ErrorCode::kNotFound) return facts;
    error = one.error();
  }
  facts.note = fmt::format(
      "no records of failures: {}; Synergy's administrator can let you get the ConfigMap {} in "
      "namespace {} (--synergy-namespace)",
      error.message,
      pod_namespace.empty() ? "of each namespace" : wire::FailureHistoryName(pod_namespace),
      synergy_namespace);
  return facts;
}

AvoidedNodes ReadAvoidedNodes(kube::ApiClient& client, const std::string& synergy_namespace) {
  const auto read = kube::MakeRetryApi(client, client, synergy_namespace)->ReadAvoidedNodes({});
  return read ? read->nodes : AvoidedNodes();
}

}  // namespace synergy::cli
