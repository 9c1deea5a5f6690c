#pragma once

// An HTTP/1.1 server for a handful of routes. Built on cpp-httplib, which is not visible from
// outside.
//
// Threading: handlers run concurrently, one thread per connection. Handle() only before Start().
// Start() returns once the port is bound; Stop() may be called from any thread, once; the
// destructor stops a running server immediately. Both return when no handler runs any more, however
// long that takes.
// Failures: neither a handler nor an error_response throws. The server itself answers a body larger
// than the limit, or a broken request, and closes its connection. The first Create() makes the
// whole process ignore SIGPIPE.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/result.h"

namespace synergy::http {

struct Request {
  std::string_view method;
  std::string_view path;   // decoded; never empty
  std::string_view query;  // without the question mark; empty without one
  std::string_view content_type;
  std::string_view body;  // valid during the handler's call
  // Returns the value of a header, whose name may be in any case; empty without it. Valid during
  // the handler's call.
  std::function<std::string(std::string_view name)> header = [](std::string_view) {
    return std::string();
  };
};

struct Response {
  int status = 200;  // 401 requests a bearer token
  std::string content_type = "application/json";
  std::string body;
};

using Handler = std::function<Response(const Request&)>;
// Replaces the server's own errors (413, 400, 404 ...) on a path; see
// ServerOptions::error_response.
using ErrorResponse = std::function<Response(const Request&, int status, std::string_view reason)>;

// Largest body that needs no share of ServerOptions::max_bodies_bytes.
inline constexpr size_t kSmallBody = size_t{64} << 10;

struct ServerOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;  // 0: any free one
  // In place of an address: the name of an abstract Unix socket, which only processes in the same
  // network namespace reach.
  std::string unix_socket;
  std::string certificate_file;  // both or neither: TLS; read again when they change on disk
  std::string key_file;
  // If there are no files: serve TLS with a certificate that the server generates, which no client
  // can verify.
  bool self_signed = false;
  // Both or neither, with TLS: a client needs a certificate that this authority has signed for this
  // DNS name. Read again when they change on disk; open connections stay.
  std::string client_ca_file;
  std::string client_name;
  size_t max_body_bytes = size_t{160} << 20;
  // Longest silence within a request before the connection is closed.
  std::chrono::seconds read_timeout{10};
  // Longest time to receive a request, and to send its answer, however busy the client.
  std::chrono::milliseconds transfer_timeout{30000};
  // Longest silence between requests. Longer than the 90 s after which Go's client closes an idle
  // connection: if the server closes first, the client's next POST fails.
  std::chrono::seconds keep_alive_timeout{120};
  // Connections served at once, each by its own thread. A connection beyond that replaces another:
  // one of the address with the most connections, if that has more than the new connection's
  // address; otherwise an idle one, or the one whose client has kept the server waiting longest,
  // for at least a second, but never one of an address with fewer. If there is none to replace, the
  // new connection waits; connections of the addresses with the fewest go first.
  size_t max_connections = 512;
  // Connections that wait. Beyond that, the newest of the address with the most is closed
  // immediately, so that descriptors are left for the program's own calls.
  size_t max_waiting = 128;
  // Connections from this machine neither count nor exceed the limit.
  bool exempt_loopback = true;
  // Bytes of bodies larger than kSmallBody that all connections may hold at once; further bodies
  // wait, within transfer_timeout. Not less than one body.
  size_t max_bodies_bytes = size_t{32} << 20;
  ErrorResponse error_response;  // optional
  // Called for each connection that failed before its first request because of TLS. From any
  // thread; optional.
  std::function<void()> on_failed_handshake;
  // Called about problems that the server survives but operators should see: a changed certificate
  // that cannot be used (the previous one stays), connections that cannot be accepted or are too
  // many (once until it works again). From any thread; optional.
  std::function<void(std::string_view problem)> on_problem;
};

class Server {
 public:
  static Result<std::unique_ptr<Server>> Create(ServerOptions options);
  virtual ~Server() = default;

  virtual void Handle(std::string method, std::string path, Handler handler) = 0;
  virtual Result<> Start() = 0;
  // The bound port, after Start(); 0 for a Unix socket.
  virtual uint16_t port() const = 0;
  // Connections without a thread. From any thread.
  virtual size_t waiting_connections() const = 0;
  // When the certificate in use expires; none without TLS. From any thread.
  virtual std::optional<WallTime> CertificateExpiry() const = 0;
  // Accepts no new connections and closes those without a request; requests in progress may finish
  // within `grace`; then all connections are closed.
  virtual void Stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace synergy::http
