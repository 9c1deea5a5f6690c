#pragma once

// Serves the page with the live cluster to all its users, for example from a pod. Each request
// needs a bearer token of the cluster, and the cluster is read only with that token. So the API
// server decides what the token's owner sees, and the program has no rights that a user could
// borrow.
//
// Threading: requests may come from any thread; those with one token read the cluster one after
// another. Tokens stay in memory while their sessions last, and are never logged.

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "cli/cluster/cluster_connection.h"
#include "cli/cluster/progress.h"
#include "cli/page/ui_server.h"
#include "core/clock.h"
#include "core/log.h"
#include "http/server/server.h"
#include "kube/token_gate.h"

namespace synergy::cli {

class SharedUi {
 public:
  struct Limits {
    // The number of sessions, one per token; beyond it, the session that has been idle longest
    // ends.
    size_t most_sessions = 32;
    Duration idle = std::chrono::minutes(5);  // a session ends after this idle time
    // Limits on requests in progress, each of which may hold all pods of the cluster: per token,
    // and in total. Further requests are refused with 503.
    size_t most_of_session = 2;
    size_t most_at_once = 8;
  };

  // `clock` and `log` must outlive this object.
  SharedUi(ConnectByToken connect, ControllerAddress controller, const Clock& clock, Logger& log,
           Limits limits);
  SharedUi(ConnectByToken connect, ControllerAddress controller, const Clock& clock, Logger& log)
      : SharedUi(std::move(connect), std::move(controller), clock, log, Limits()) {}

  // The page, which contains no data of the cluster, is at / for everyone.
  void AddRoutes(http::Server& server);
  size_t sessions() const;

 private:
  struct Session {
    std::shared_ptr<UiServer> ui;
    Instant used;
    size_t requests = 0;  // in progress
  };
  using Question = http::Response (UiServer::*)(const http::Request& request);

  http::Response Answer(const http::Request& request, Question question);
  // Returns kOverloaded if too many requests are in progress. Otherwise the caller must call End().
  Result<std::shared_ptr<UiServer>> Begin(const std::string& token);
  void End(const std::string& token, const UiServer* ui);
  void EndIdleSessions();

  const ConnectByToken connect_;
  const ControllerAddress controller_;
  const Clock& clock_;
  const Limits limits_;
  kube::TokenGate gate_;
  mutable std::mutex mutex_;                 // guards everything below
  std::map<std::string, Session> sessions_;  // by token
  size_t requests_ = 0;                      // in progress
};

}  // namespace synergy::cli
