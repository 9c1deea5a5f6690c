#pragma once

// The page with the cluster as it is now, served to the user's own browser: read-only, on the
// loopback interface, under a path that only who was told it knows, since other users of the
// machine can reach the port, and other sites can be made to seem to be on it.
//
// Threading: Answer() from any thread; calls of the API server are made one after the other.

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "cli/cluster/cluster_connection.h"
#include "cli/cluster/progress.h"
#include "cli/page/live_map.h"
#include "core/clock.h"
#include "http/server/server.h"

namespace synergy::cli {

class UiServer {
 public:
  // The cluster is read at most so often, and only when a page asks.
  static constexpr std::chrono::seconds kRefresh{2};
  // Progress and queues: node agents are asked every ten seconds, and rounds are longer.
  static constexpr std::chrono::seconds kSlowRefresh{5};

  // `clock` outlives this.
  UiServer(Connection connection, ControllerAddress controller, const Clock& clock);

  // The page is at PREFIX/, where `prefix` begins with a slash.
  void AddRoutes(http::Server& server, const std::string& prefix);

 private:
  http::Response State(std::string_view query);
  http::Response Explain(std::string_view query);
  // Failures: as FactsReader.
  Result<> Refresh();
  void ReadProgressAndQueues();

  const Connection connection_;
  const ControllerAddress controller_;
  const Clock& clock_;
  std::mutex mutex_;  // of all below, and of the connection
  ProgressReader progress_;
  LiveMap map_;
  std::optional<Instant> read_;
  std::optional<Instant> slowly_read_;
  // It is not there, or may not be seen: asked for again when a page is opened.
  bool no_progress_ = false;
  bool no_queues_ = false;
};

}  // namespace synergy::cli
