#pragma once

// Runs synergy-controller as a process, on free ports, with a certificate of a test authority.
//
// Threading: one owner, except for Review(). The program's path comes from the environment
// (SYNERGY_CONTROLLER). A wait fails the test after 30 seconds.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "http/client.h"
#include "support/child_process.h"
#include "support/fake_api_server.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"

namespace synergy::testing {

class ControllerProcess {
 public:
  // Starts the program with `server` as its API server; returns when it listens.
  explicit ControllerProcess(const FakeApiServer& server, std::vector<std::string> arguments = {});

  uint16_t webhook_port() const { return webhook_port_; }
  // Returns a client of the webhook, with a connection of its own.
  std::unique_ptr<http::Client> NewClient() const;
  http::ClientResponse Post(const std::string& path, const std::string& body,
                            const std::string& content_type = "application/json");
  http::ClientResponse Get(const std::string& path);
  void AwaitReady();
  // Returns the value of a line of /metrics, "name{labels}"; -1 if there is none.
  double Metric(const std::string& line);
  void AwaitMetric(const std::string& line, double value);
  // Replaces the certificate with another one of the same authority.
  void RenewCertificate();
  ChildProcess& process() { return *process_; }

 private:
  TemporaryFolder folder_;
  TestAuthority authority_;
  std::unique_ptr<ChildProcess> process_;
  uint16_t webhook_port_ = 0;
  std::unique_ptr<http::Client> webhook_;
  std::unique_ptr<http::Client> plain_;
};

}  // namespace synergy::testing
