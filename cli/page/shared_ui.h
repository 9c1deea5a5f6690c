#pragma once

// Serves the page with the live cluster to all its users, such as in a pod. Each request needs a
// bearer token of the cluster, with which alone the cluster is read: the API server decides what
// its owner sees, and the program has no rights that a user could borrow.
//
// Threading: requests from any thread; those with one token read the cluster one after the other.
// Tokens are kept in memory while their sessions last, and are never logged.

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
    // Sessions, one for each token; beyond that, the one that has been idle for longest ends.
    size_t most_sessions = 32;
    Duration idle = std::chrono::minutes(5);  // then a session ends
    // Requests in progress, each of which may hold all pods of the cluster: with one token, and in
    // total. Beyond that they are refused with 503.
    size_t most_of_session = 2;
    size_t most_at_once = 8;
  };

  // `clock` and `log` outlive this.
  SharedUi(ConnectByToken connect, ControllerAddress controller, const Clock& clock, Logger& log,
           Limits limits);
  SharedUi(ConnectByToken connect, ControllerAddress controller, const Clock& clock, Logger& log)
      : SharedUi(std::move(connect), std::move(controller), clock, log, Limits()) {}

  // The page, which has no data of the cluster, is at / for everybody.
  void AddRoutes(http::Server& server);
  size_t sessions() const;

 private:
  struct Session {
    std::shared_ptr<UiServer> ui;
    Instant used;
    size_t requests = 0;  // in progress
  };
  using Question = http::Response (UiServer::*)(std::string_view query);

  http::Response Answer(const http::Request& request, Question question);
  // kOverloaded: too many requests are in progress. Otherwise, End() is due.
  Result<std::shared_ptr<UiServer>> Begin(const std::string& token);
  void End(const std::string& token, const UiServer* ui);
  void EndIdleSessions();

  const ConnectByToken connect_;
  const ControllerAddress controller_;
  const Clock& clock_;
  const Limits limits_;
  kube::TokenGate gate_;
  mutable std::mutex mutex_;                 // guards all below
  std::map<std::string, Session> sessions_;  // by token
  size_t requests_ = 0;                      // in progress
};

}  // namespace synergy::cli
