#include "cli/page/ui_server.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "cli/cluster/cluster_facts.h"
#include "cli/cluster/queue_facts.h"
#include "cli/page/page.h"
#include "cli/views/explain.h"

namespace synergy::cli {
namespace {

constexpr const char* kPlainText = "text/plain; charset=utf-8";

std::optional<uint64_t> Version(std::string_view text) {
  uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return version;
}

// Returns whether `text` is a valid Kubernetes name, and so safe as a part of a path.
bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= 253 && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), [](char letter) {
           return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
                  letter == '-' || letter == '.';
         });
}

http::Response Problem(int status, std::string message) {
  return {status, kPlainText, std::move(message)};
}

http::Response Problem(const Error& error) {
  switch (error.code) {
    case ErrorCode::kDenied:
      return Problem(403, error.message);
    case ErrorCode::kNotFound:
      return Problem(404, error.message);
    default:
      return Problem(502, error.message);
  }
}

}  // namespace

UiServer::UiServer(Connection connection, ControllerAddress controller, const Clock& clock)
    : connection_(std::move(connection)),
      controller_(std::move(controller)),
      clock_(clock),
      progress_(*connection_.client, controller_, clock_),
      map_(clock_.WallNow()) {}

void UiServer::AddRoutes(http::Server& server, const std::string& prefix) {
  server.Handle("GET", prefix + "/", [](const http::Request&) {
    return http::Response{200, "text/html; charset=utf-8", ClusterPage()};
  });
  server.Handle("GET", prefix + "/state",
                [this](const http::Request& request) { return State(request); });
  server.Handle("GET", prefix + "/explain",
                [this](const http::Request& request) { return Explain(request); });
}

http::Response UiServer::State(const http::Request& request) {
  const std::optional<uint64_t> since = Version(request.Parameter("since"));
  const std::string_view pod_namespace = request.Parameter("namespace");
  if (!pod_namespace.empty() && !IsName(pod_namespace)) {
    return Problem(400, "namespace: not the name of a namespace");
  }
  const std::lock_guard lock(mutex_);
  Choose(pod_namespace);
  if (!since) no_progress_ = no_queues_ = false;
  if (const auto read = Refresh(); !read) return Problem(read.error());
  return {200, "application/json", map_.Since(since)};
}

http::Response UiServer::Explain(const http::Request& request) {
  const std::string pod_namespace(request.Parameter("namespace"));
  const std::string name(request.Parameter("name"));
  if (!IsName(pod_namespace) || !IsName(name)) {
    return Problem(400, "the query must be ?namespace=NAMESPACE&name=POD");
  }
  const std::lock_guard lock(mutex_);
  FactsReader reader(*connection_.client, connection_.reader, connection_.device_classes);
  auto facts = reader.ReadPod(pod_namespace, name);
  if (!facts) return Problem(facts.error());
  facts->progress = progress_.Read(pod_namespace);
  const WallTime now = clock_.WallNow();
  return {200, kPlainText, ToText(cli::Explain(*facts, now), now)};
}

void UiServer::Choose(std::string_view pod_namespace) {
  if (pod_namespace == namespace_) return;
  namespace_ = pod_namespace;
  map_ = LiveMap(clock_.WallNow());
  read_ = slowly_read_ = std::nullopt;
  no_progress_ = no_queues_ = false;
}

Result<> UiServer::Refresh() {
  const Instant now = clock_.Now();
  if (read_ && now - *read_ < kRefresh) return {};
  FactsReader reader(*connection_.client, connection_.reader, connection_.device_classes);
  auto facts = namespace_.empty() ? reader.ReadCluster() : reader.ReadPods(namespace_);
  if (!facts) return Fail(facts.error());
  reader.AddReservations(namespace_, clock_.WallNow(), *facts);
  ReadProgressAndQueues();
  map_.Update(*facts, clock_.WallNow());
  read_ = now;
  return {};
}

void UiServer::ReadProgressAndQueues() {
  const Instant now = clock_.Now();
  if (slowly_read_ && now - *slowly_read_ < kSlowRefresh) return;
  slowly_read_ = now;
  if (!no_progress_) {
    const ProgressFacts progress = progress_.Read(namespace_);
    no_progress_ = progress.lasts;
    map_.SetProgress(progress, clock_.WallNow());
  }
  if (no_queues_) return;
  auto queues = ReadOrderedQueues(*connection_.client, connection_.reader,
                                  namespace_.empty() ? connection_.pod_namespace : namespace_);
  if (queues) {
    no_queues_ = queues->policies.empty();
  } else {
    const Error error = queues.error();
    no_queues_ = error.code == ErrorCode::kNotFound || error.code == ErrorCode::kDenied;
    queues.emplace();
    if (error.code != ErrorCode::kNotFound) queues->notes.push_back("no queues: " + error.message);
  }
  map_.SetQueues(*queues, clock_.WallNow());
}

}  // namespace synergy::cli
