#include "http/server/server.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <sys/socket.h>

#include "core/check.h"
#include "http/certificates.h"
#include "http/channel.h"
#include "http/server/connection_threads.h"
#include "http/server/exchanges.h"
#include "http/socket.h"

namespace synergy::http {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Pause after a failed accept(), because a lack of descriptors or memory is temporary.
constexpr milliseconds kAcceptPause{50};
// How often to look for connections to close while others wait, and how long a client may keep the
// server waiting before its connection is closed.
constexpr milliseconds kLookAround{100};
constexpr milliseconds kWaitedFor{1000};

class RealServer final : public Server {
 public:
  RealServer(ServerOptions options, std::unique_ptr<ServerCertificate> certificate)
      : options_(std::move(options)),
        certificate_(std::move(certificate)),
        exchanges_({options_.max_body_bytes, options_.max_bodies_bytes, options_.error_response,
                    options_.transfer_timeout,
                    [this] { return stopping_.load() || threads_.waiting() > 0; }}),
        threads_(
            options_.max_connections, options_.max_waiting,
            [this](Fd socket, const std::string& address) { Serve(std::move(socket), address); }) {}

  ~RealServer() override { Stop(milliseconds(0)); }

  void Handle(std::string method, std::string path, Handler handler) override {
    SYNERGY_CHECK(!accepting_.joinable(), "routes are complete before the server starts");
    exchanges_.Handle(std::move(method), std::move(path), std::move(handler));
  }

  Result<> Start() override {
    Result<Fd> socket = options_.unix_socket.empty() ? Listen(options_.host, options_.port)
                                                     : ListenLocally(options_.unix_socket);
    if (!socket) return Fail(socket.error());
    socket_ = std::move(*socket);
    if (options_.unix_socket.empty()) port_ = LocalPort(socket_);
    accepting_ = std::thread([this] { AcceptLoop(); });
    return {};
  }

  uint16_t port() const override { return port_; }

  size_t waiting_connections() const override { return threads_.waiting(); }

  std::optional<WallTime> CertificateExpiry() const override {
    return certificate_ == nullptr ? std::nullopt : certificate_->Expiry();
  }

  void Stop(milliseconds grace) override;

 private:
  enum class Phase : uint8_t {
    kIdle,      // between requests
    kTransfer,  // the client sends a request or receives an answer
    kHandler,
    kClosing,
  };
  struct Connection {
    int fd;
    std::string address;
    Phase phase = Phase::kTransfer;
    Clock::time_point since = Clock::now();
  };
  using Place = std::list<Connection>::iterator;

  void AcceptLoop();
  void MakeRoom();
  Place ToClose();
  void Serve(Fd socket, const std::string& address);
  void ServeRequests(Channel& channel, Place place);
  void Enter(Phase phase, Place place);
  void Report(std::string_view problem) {
    if (options_.on_problem) options_.on_problem(problem);
  }

  const ServerOptions options_;
  const std::unique_ptr<ServerCertificate> certificate_;
  Exchanges exchanges_;
  std::atomic<bool> stopping_ = false;
  WakeEvent stop_;
  Fd socket_;
  uint16_t port_ = 0;
  std::thread accepting_;

  std::mutex mutex_;
  std::condition_variable connection_closed_;
  std::list<Connection> connections_;
  bool force_closed_ = false;
  ConnectionThreads threads_;
};

void RealServer::AcceptLoop() {
  using Added = ConnectionThreads::Added;
  bool failing = false;
  bool refusing = false;
  while (!stopping_) {
    const bool is_connection_waiting = threads_.waiting() > 0;
    if (is_connection_waiting) MakeRoom();
    if (WaitFor(socket_.get(), /*writable=*/false,
                is_connection_waiting ? kLookAround : std::chrono::hours(1),
                stop_.fd()) != Ready::kYes)
      continue;
    Fd connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!connection.valid()) {
      const int error = errno;
      // These errors concern one connection, not the server.
      if (error == EAGAIN || error == EINTR || error == ECONNABORTED || error == EPROTO) continue;
      if (!failing) Report(fmt::format("connections cannot be accepted: {}", ErrnoText(error)));
      failing = true;
      MakeRoom();
      WaitFor(stop_.fd(), /*writable=*/false, kAcceptPause, -1);
      continue;
    }
    failing = false;
    SetNoDelay(connection.get());
    std::string address = PeerAddress(connection);
    if (options_.exempt_loopback && IsLoopback(address)) address.clear();
    const Added added = threads_.Add(std::move(connection), std::move(address));
    if (added == Added::kClosed && !refusing && !stopping_)
      Report("closing connections without an answer: there are too many");
    refusing = added == Added::kClosed;
  }
}

void RealServer::MakeRoom() {
  const std::lock_guard lock(mutex_);
  const Place place = ToClose();
  if (place == connections_.end()) return;
  place->phase = Phase::kClosing;
  ::shutdown(place->fd, SHUT_RDWR);
}

// Chooses the connection to close. If the address with the most connections has more than the
// waiting address would have, it loses one. That is the one that has been idle longest, which its
// client is least likely to use, or else the newest. Otherwise an address with at least as many
// connections in service as the waiting address loses one. That is the one that has been idle
// longest, or else that of the slowest client.
RealServer::Place RealServer::ToClose() {
  const ConnectionThreads::Crowd crowd = threads_.crowd();
  const auto first = [&](Phase phase, size_t least, auto before) {
    Place found = connections_.end();
    for (Place it = connections_.begin(); it != connections_.end(); ++it) {
      if (it->phase == phase && crowd.Served(it->address) >= least &&
          (found == connections_.end() || before(it->since, found->since)))
        found = it;
    }
    return found;
  };
  const std::less<> oldest;
  size_t most = 0;
  for (const auto& [address, served] : crowd.served) most = std::max(most, served);
  if (most > crowd.fewest_of_waiting + 1) {
    Place place = first(Phase::kIdle, most, oldest);
    if (place == connections_.end()) place = first(Phase::kTransfer, most, std::greater<>());
    if (place != connections_.end()) return place;
  }
  Place place = first(Phase::kIdle, crowd.fewest_of_waiting, oldest);
  if (place != connections_.end()) return place;
  place = first(Phase::kTransfer, crowd.fewest_of_waiting, oldest);
  const bool waited = place != connections_.end() && Clock::now() - place->since >= kWaitedFor;
  return waited ? place : connections_.end();
}

void RealServer::Enter(Phase phase, Place place) {
  const std::lock_guard lock(mutex_);
  if (place->phase == Phase::kClosing) return;
  place->phase = phase;
  place->since = Clock::now();
}

void RealServer::Serve(Fd socket, const std::string& address) {
  Channel channel(std::move(socket));
  Place place;
  {
    const std::lock_guard lock(mutex_);
    if (force_closed_) return;
    connections_.push_front({channel.fd(), address});
    place = connections_.begin();
  }
  channel.SetWaits(options_.read_timeout, stop_.fd());
  if (certificate_ == nullptr || channel.AcceptTls(certificate_->Current())) {
    // From here on, stopping the server ends only a wait between requests; a request may continue.
    channel.SetWaits(options_.read_timeout, -1);
    ServeRequests(channel, place);
  } else if (options_.on_failed_handshake && !stopping_) {
    options_.on_failed_handshake();
  }
  {
    // Do this before the channel closes its descriptor, whose number another connection may then
    // get.
    const std::lock_guard lock(mutex_);
    connections_.erase(place);
  }
  connection_closed_.notify_all();
}

void RealServer::ServeRequests(Channel& channel, Place place) {
  const auto on_handler = [this, place](bool begins) {
    Enter(begins ? Phase::kHandler : Phase::kTransfer, place);
  };
  for (;;) {
    // A connection that has waited for a thread has already sent its request, and must not count as
    // idle.
    if (!channel.AwaitData(milliseconds(0), -1)) {
      // A new connection may be idle for as long as a used one, because Go's client opens some in
      // advance.
      Enter(Phase::kIdle, place);
      // Connections that arrived while this one was busy may have found no connection to close.
      if (threads_.waiting() > 0) MakeRoom();
      if (!channel.AwaitData(options_.keep_alive_timeout, stop_.fd())) return;
    }
    Enter(Phase::kTransfer, place);
    switch (exchanges_.ServeOne(channel, on_handler)) {
      case Exchanges::Next::kKeepOpen:
        break;
      case Exchanges::Next::kClose:
        return;
      case Exchanges::Next::kLinger:
        channel.Linger();
        return;
    }
  }
}

void RealServer::Stop(milliseconds grace) {
  const Clock::time_point deadline = Clock::now() + grace;
  stopping_ = true;
  stop_.Signal();
  if (accepting_.joinable()) accepting_.join();
  socket_ = Fd();
  {
    std::unique_lock lock(mutex_);
    connection_closed_.wait_until(lock, deadline, [this] { return connections_.empty(); });
    force_closed_ = true;
    for (const Connection& connection : connections_) ::shutdown(connection.fd, SHUT_RDWR);
  }
  threads_.Finish();
}

}  // namespace

std::string_view Request::Parameter(std::string_view name) const {
  std::string_view rest = query;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (part.starts_with(name) && part.substr(name.size()).starts_with('='))
      return part.substr(name.size() + 1);
  }
  return {};
}

Result<std::unique_ptr<Server>> Server::Create(ServerOptions options) {
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return Fail(ErrorCode::kInvalid, "set both the certificate and its key, or neither");
  }
  if (options.client_ca_file.empty() != options.client_name.empty() ||
      (!options.client_ca_file.empty() && options.certificate_file.empty())) {
    return Fail(ErrorCode::kInvalid,
                "client authentication needs an authority, a client name and TLS");
  }
  // A peer that disappears must end only its connection, not the process; OpenSSL writes without
  // MSG_NOSIGNAL.
  std::signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<ServerCertificate> certificate;
  if (!options.certificate_file.empty() || options.self_signed) {
    auto loaded = ServerCertificate::Load(
        {options.certificate_file, options.key_file, options.client_ca_file, options.client_name},
        options.on_problem);
    if (!loaded) return Fail(loaded.error());
    certificate = std::move(*loaded);
  }
  return std::make_unique<RealServer>(std::move(options), std::move(certificate));
}

}  // namespace synergy::http
