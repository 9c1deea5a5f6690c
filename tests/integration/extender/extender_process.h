#pragma once

// Runs synergy-extender as a process, on a free port.
//
// Threading: one owner. The program's path comes from the environment (SYNERGY_EXTENDER). A wait
// fails the test after 30 seconds.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "http/client.h"
#include "support/child_process.h"
#include "support/fake_api_server.h"
#include "support/temporary_folder.h"

namespace synergy::testing {

class ExtenderProcess {
 public:
  struct Ended {
    int code = -1;       // exit status; -1 after a signal
    std::string output;  // standard output and error
  };
  // Runs the program until it ends by itself.
  static Ended Run(const std::vector<std::string>& arguments);

  // Starts the program with `server` as its API server; returns when it listens.
  explicit ExtenderProcess(const FakeApiServer& server, std::vector<std::string> arguments = {});

  uint16_t port() const { return port_; }
  // Returns the port of --http-listen; 0 without that flag.
  uint16_t http_port() const;
  http::ClientResponse Get(const std::string& path);
  http::ClientResponse Post(const std::string& path, const std::string& body);
  // Polls /readyz until its answer is `ready`.
  void AwaitReady(bool ready = true);
  // Returns the value of a line of /metrics, "name{labels}"; -1 if there is none.
  double Metric(const std::string& line);
  void Signal(int signal);
  // Waits for the end after a signal. Returns the exit status, or -1.
  int Wait();

 private:
  TemporaryFolder folder_;
  std::unique_ptr<ChildProcess> process_;
  uint16_t port_ = 0;
  std::unique_ptr<http::Client> client_;
};

}  // namespace synergy::testing
