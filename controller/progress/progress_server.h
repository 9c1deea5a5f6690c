#pragma once

// GET /progress: how far the cluster's pods are, over TLS, for the reader's service account alone
// (docs/progress.md). Its tokens come in the header of wire::kProgressTokenHeader.
//
// Threading: as http::Server. The destructor ends it, once no answer is under way.

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
  // Connections at once, and with them answers that are held: of 40000 pods one has some 20 MB.
  static constexpr size_t kMostConnections = 8;

  // By the settings of `progress`, with the certificate of the webhook; all but the settings
  // outlive it. kInvalid: an address, or files, that cannot be used.
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
