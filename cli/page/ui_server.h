#pragma once

// Answers the page's requests with the live cluster, for one user and with that user's rights. It
// serves the page to the user's own browser: read-only, on the loopback interface, under a secret
// path. Other users of the machine can reach the port, and other sites can pretend to be this
// machine (DNS rebinding), so the path must be secret.
//
// Threading: requests may come from any thread; calls to the API server are made one after another.

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cli/cluster/cluster_connection.h"
#include "cli/cluster/progress.h"
#include "cli/page/live_map.h"
#include "core/clock.h"
#include "http/server/server.h"

namespace synergy::cli {

class UiServer {
 public:
  // Shortest interval between reads of the cluster, which happen only when a page requests them.
  static constexpr std::chrono::seconds kRefresh{2};
  // Shortest interval between reads of progress and queues: node agents are polled only every ten
  // seconds, and rounds are longer.
  static constexpr std::chrono::seconds kSlowRefresh{5};

  // `clock` must outlive this object.
  UiServer(Connection connection, ControllerAddress controller, const Clock& clock);

  // The page is at PREFIX/, where `prefix` begins with a slash.
  void AddRoutes(http::Server& server, const std::string& prefix);

  // Answers ?namespace=NAME&since=VERSION, both optional, with the nodes and the pods of all
  // namespaces, or with the pods of that one.
  http::Response State(const http::Request& request);
  // Answers ?namespace=NAMESPACE&name=POD.
  http::Response Explain(const http::Request& request);

 private:
  // Begins a new map, unless the present one shows that namespace; empty: all.
  void Choose(std::string_view pod_namespace);
  // Failures: the same as FactsReader.
  Result<> Refresh();
  void ReadProgressAndQueues();

  const Connection connection_;
  const ControllerAddress controller_;
  const Clock& clock_;
  std::mutex mutex_;  // guards everything below, and the connection
  ProgressReader progress_;
  LiveMap map_;
  std::string namespace_;  // the namespace that the map shows; empty: all
  std::optional<Instant> read_;
  std::optional<Instant> slowly_read_;
  // Set if the progress or the queues do not exist or are not visible to the user; tried again when
  // a page is opened.
  bool no_progress_ = false;
  bool no_queues_ = false;
};

}  // namespace synergy::cli
