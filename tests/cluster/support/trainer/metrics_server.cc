#include "cluster/support/trainer/metrics_server.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace synergy::trainer {
namespace {

constexpr int kLookUpMillis = 200;
constexpr timeval kPatience{.tv_sec = 1, .tv_usec = 0};
constexpr size_t kLongestRequest = 8192;

[[noreturn]] void CannotServe(const char* what) {
  std::fprintf(stderr, "trainer: cannot serve metrics: %s\n", what);
  std::exit(EXIT_FAILURE);
}

void Answer(int connection, const std::string& body) {
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  std::string request;
  char piece[1024];
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < kLongestRequest) {
    const ssize_t read = recv(connection, piece, sizeof(piece), 0);
    if (read <= 0) return;
    request.append(piece, static_cast<size_t>(read));
  }
  std::string answer =
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: ";
  answer += std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
  size_t sent = 0;
  while (sent < answer.size()) {
    const ssize_t wrote =
        send(connection, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
    if (wrote <= 0) return;
    sent += static_cast<size_t>(wrote);
  }
}

}  // namespace

MetricsServer::MetricsServer(const std::string& address, uint16_t port,
                             std::function<std::string()> render)
    : render_(std::move(render)) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  if (inet_pton(AF_INET, address.c_str(), &place.sin_addr) != 1)
    CannotServe("no such IPv4 address");
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  auto* const plain = reinterpret_cast<sockaddr*>(&place);
  socklen_t size = sizeof(place);
  if (bind(listener_, plain, size) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, plain, &size) != 0) {
    CannotServe("the port is taken");
  }
  port_ = ntohs(place.sin_port);
  thread_ = std::jthread([this](const std::stop_token& stop) { Serve(stop); });
}

MetricsServer::~MetricsServer() {
  thread_.request_stop();
  thread_.join();
  close(listener_);
}

void MetricsServer::Serve(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd waiting{.fd = listener_, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, kLookUpMillis) <= 0) continue;
    const int connection = accept(listener_, nullptr, nullptr);
    if (connection < 0) continue;
    Answer(connection, render_());
    close(connection);
  }
}

}  // namespace synergy::trainer
