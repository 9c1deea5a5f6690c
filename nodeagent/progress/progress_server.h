#pragma once

// Serves the progress of the node's pods only to synergy-controller: GET /progress, over TLS with
// certificates on both sides (docs/internals/progress.md). A request with the header
// `Synergy-Turns: renew` also renews the turns on GPUs (docs/internals/sharing.md).
//
// This file is separate because the other files of the folder know nothing of HTTP and
// certificates.
//
// Threading: one owner. The server's threads call `read` and `renew_turns` concurrently.

#include <cstdint>
#include <functional>
#include <memory>

#include "config/node_agent_config.h"
#include "core/log.h"
#include "core/result.h"
#include "http/server/server.h"
#include "profile/pod_progress.h"

namespace synergy::nodeagent {

class ProgressServer {
 public:
  // Listens on config.progress_listen. `log`, and what the functions use, must outlive the server.
  static Result<std::unique_ptr<ProgressServer>> Start(const config::NodeAgentConfig& config,
                                                       std::function<NodeProgress()> read,
                                                       std::function<void()> renew_turns,
                                                       Logger& log);

  uint16_t port() const { return server_->port(); }

 private:
  explicit ProgressServer(std::unique_ptr<http::Server> server) : server_(std::move(server)) {}

  std::unique_ptr<http::Server> server_;  // its destructor waits for the functions
};

}  // namespace synergy::nodeagent
