#pragma once

// Answers every HTTP request with the result of `render`.
//
// Threading: a thread of its own calls `render`; the destructor ends it. Failures: if the port is
// not available, the process ends.

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace synergy::trainer {

class MetricsServer {
 public:
  MetricsServer(const std::string& address, uint16_t port, std::function<std::string()> render);
  ~MetricsServer();

  uint16_t port() const { return port_; }

 private:
  void Serve(const std::stop_token& stop);

  int listener_ = -1;
  uint16_t port_ = 0;
  const std::function<std::string()> render_;
  std::jthread thread_;
};

}  // namespace synergy::trainer
