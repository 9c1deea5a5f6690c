#pragma once

// An HTTP/1.1 server for a handful of routes. Uses cpp-httplib, which is not visible from outside.
//
// Threading: handlers run concurrently, one thread per connection. Call Handle() only before
// Start(). Start() returns once the port is bound. Any thread may call Stop(), once; the destructor
// stops a running server immediately. Both block until no handler runs any more, however long that
// takes. Failures: handlers and the error_response must not throw. The server itself answers a
// broken request or a body larger than the limit, and closes the connection. The first Create()
// makes the whole process ignore SIGPIPE.

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
  std::string_view query;  // without the question mark; may be empty
  std::string_view content_type;
  std::string_view body;  // valid during the handler's call
  // Returns the value of the query's first parameter with that name, not decoded; empty if it is
  // missing.
  std::string_view Parameter(std::string_view name) const;
  // Returns the value of a header, whose name may be in any case; empty if it is missing. The
  // function is valid during the handler's call.
  std::function<std::string(std::string_view name)> header = [](std::string_view) {
    return std::string();
  };
};

struct Response {
  int status = 200;  // 401 makes the server request a bearer token
  std::string content_type = "application/json";
  std::string body;
};

using Handler = std::function<Response(const Request&)>;
// Replaces the server's own errors (413, 400, 404 ...) for a path; see
// ServerOptions::error_response.
using ErrorResponse = std::function<Response(const Request&, int status, std::string_view reason)>;

// The largest body that needs no share of ServerOptions::max_bodies_bytes.
inline constexpr size_t kSmallBody = size_t{64} << 10;

struct ServerOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;  // 0: any free one
  // Replaces the address by the name of an abstract Unix socket, which only processes in the same
  // network namespace can reach.
  std::string unix_socket;
  std::string certificate_file;  // set both or neither: TLS; read again when they change on disk
  std::string key_file;
  // Whether to serve TLS without files, with a generated certificate that no client can verify.
  bool self_signed = false;
  // Set both or neither, with TLS: a client needs a certificate for this DNS name, signed by this
  // authority. The file is read again when it changes on disk; open connections stay.
  std::string client_ca_file;
  std::string client_name;
  size_t max_body_bytes = size_t{160} << 20;
  // The longest silence within a request before the connection is closed.
  std::chrono::seconds read_timeout{10};
  // The longest time to receive a request, and to send its answer, even while data moves.
  std::chrono::milliseconds transfer_timeout{30000};
  // The longest silence between requests. It exceeds the 90 s after which Go's client closes an
  // idle connection; if the server closed first, the client's next POST would fail.
  std::chrono::seconds keep_alive_timeout{120};
  // Number of connections served at once, each by its own thread. A connection beyond that may
  // replace another. If the address with the most connections has more than the new connection's
  // address, it loses one. Otherwise an idle connection is replaced, or else the one whose client
  // has kept the server waiting longest (at least a second). Connections of an address with fewer
  // connections are never replaced. If there is none to replace, the new connection waits;
  // connections of the addresses with the fewest go first.
  size_t max_connections = 512;
  // Number of connections that may wait. If more would wait, the newest connection of the address
  // with the most is closed immediately, so that descriptors remain for the program's own calls.
  size_t max_waiting = 128;
  // Connections from this machine do not count and are not limited.
  bool exempt_loopback = true;
  // How many bytes of bodies larger than kSmallBody all connections together may hold; further
  // bodies wait, within transfer_timeout. Must be at least the size of one body.
  size_t max_bodies_bytes = size_t{32} << 20;
  ErrorResponse error_response;  // optional
  // Called for each connection that failed before its first request because of TLS; optional. Any
  // thread may call it.
  std::function<void()> on_failed_handshake;
  // Called for problems that do not stop the server; optional. They are a changed certificate that
  // cannot be used (the previous one stays), connections that cannot be accepted, and too many
  // connections. The last two are reported once until accepting works again. Any thread may call
  // it.
  std::function<void(std::string_view problem)> on_problem;
};

class Server {
 public:
  static Result<std::unique_ptr<Server>> Create(ServerOptions options);
  virtual ~Server() = default;

  virtual void Handle(std::string method, std::string path, Handler handler) = 0;
  virtual Result<> Start() = 0;
  // Returns the bound port after Start(); 0 for a Unix socket.
  virtual uint16_t port() const = 0;
  // Returns how many connections have no thread. Any thread may call it.
  virtual size_t waiting_connections() const = 0;
  // Returns when the certificate in use expires; nullopt without TLS. Any thread may call it.
  virtual std::optional<WallTime> CertificateExpiry() const = 0;
  // Accepts no new connections and closes those without a request. Requests in progress may finish
  // within `grace`; then all connections are closed.
  virtual void Stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace synergy::http
