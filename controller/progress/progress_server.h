#pragma once

// Serves GET /progress, the progress of the cluster's pods, over TLS and only to the reader's
// service account (docs/internals/progress.md). Tokens arrive in the header
// wire::kProgressTokenHeader.
//
// Threading: the same as http::Server. The destructor stops it after the answers in progress.

#include <cstdint>
#include <memory>
#include <utility>

#include "config/controller_config.h"
#include "controller/progress/progress_answer.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "http/server/server.h"
#include "kube/api_client.h"
#include "kube/apis/access_api.h"
#include "kube/token_gate.h"

namespace synergy::controller {

class ProgressServer {
 public:
  // Limits concurrent connections, and so the answers in memory: an answer for 40000 pods takes
  // some 20 MB.
  static constexpr size_t kMostConnections = 8;

  // Uses the settings of `progress` and the webhook's certificate; all arguments except the
  // settings must outlive it. Returns kInvalid if the address or the files are unusable.
  static Result<std::unique_ptr<ProgressServer>> Start(const config::ControllerConfig& config,
                                                       ProgressAnswers& answers,
                                                       kube::ApiClient& client, const Clock& clock,
                                                       Logger& log);

  uint16_t port() const { return server_->port(); }

 private:
  ProgressServer(const config::ControllerConfig& config, ProgressAnswers& answers,
                 kube::ApiClient& client, const Clock& clock, Logger& log,
                 std::unique_ptr<http::Server> server);

  http::Response Answer(const http::Request& request);

  ProgressAnswers& answers_;
  const std::string cure_;
  const std::unique_ptr<kube::AccessApi> api_;
  kube::TokenGate gate_;
  const std::unique_ptr<http::Server> server_;
};

}  // namespace synergy::controller
