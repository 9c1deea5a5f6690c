#pragma once

// An HTTP/1.1 server for a handful of routes. cpp-httplib is behind it and not to be seen from
// outside.
//
// Threading: handlers run concurrently, one thread per connection. Handle() only before Start().
// Start() returns once the port is bound; Stop() may be called from any thread, once; the
// destructor stops at once what is not stopped yet. Both return when no handler runs any more,
// however long that takes.
// Failures: neither a handler nor an error_response throws. A body larger than the limit, or a
// broken request, is answered by the server itself, and its connection closed. SIGPIPE is
// ignored in the whole process from the first Create() on.

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
  // A header's value, by its name in any case; empty without it. Valid likewise.
  std::function<std::string(std::string_view name)> header = [](std::string_view) {
    return std::string();
  };
};

struct Response {
  int status = 200;  // 401 asks for a bearer token
  std::string content_type = "application/json";
  std::string body;
};

using Handler = std::function<Response(const Request&)>;
// What to answer in place of the server's own errors (413, 400, 404 ...) on a path; see
// ServerOptions::error_response.
using ErrorResponse = std::function<Response(const Request&, int status, std::string_view reason)>;

// A body that needs no share of ServerOptions::max_bodies_bytes.
inline constexpr size_t kSmallBody = size_t{64} << 10;

struct ServerOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;             // 0: any free one
  std::string certificate_file;  // both or neither: TLS; read again when they change on disk
  std::string key_file;
  // Without these: TLS by a certificate that the server makes for itself, and that nobody can
  // check.
  bool self_signed = false;
  // Both or neither, with TLS: a connection needs a certificate that this authority has signed for
  // this DNS name. Read again likewise; connections that are open stay.
  std::string client_ca_file;
  std::string client_name;
  size_t max_body_bytes = size_t{160} << 20;
  // Longest silence inside a request before the connection is given up.
  std::chrono::seconds read_timeout{10};
  // How long a request may take to come in, and its answer to be taken, however busy the client.
  std::chrono::milliseconds transfer_timeout{30000};
  // Longest silence between requests. Longer than the 90 s after which Go's client lets go of an
  // idle connection: a server that closes first makes the client's next POST fail.
  std::chrono::seconds keep_alive_timeout{120};
  // Served at once, each by a thread of its own. When there are more, one is closed for the new
  // one: of the address that has most, if that has more than the new one's; otherwise one that is
  // idle, or one whose client has kept us waiting longest, a second at least, but none of an
  // address that has fewer. Without such a one the new one waits; those go first whose address has
  // fewest.
  size_t max_connections = 512;
  // That wait; of more, the newest of the address that has most is closed at once, so that
  // descriptors are left for the program's own calls.
  size_t max_waiting = 128;
  // Connections from this machine are never counted, and never too many.
  bool exempt_loopback = true;
  // Bytes of bodies that are larger than kSmallBody and are held at once, by all connections;
  // more wait, within transfer_timeout. Not less than one body.
  size_t max_bodies_bytes = size_t{32} << 20;
  ErrorResponse error_response;  // optional
  // Told of each connection that did not get as far as a request because of TLS. From any thread;
  // optional.
  std::function<void()> on_failed_handshake;
  // Told what the server goes on with but somebody should know: a changed certificate that cannot
  // be used (the one before stays), connections that cannot be accepted or are too many (once until
  // it works again). From any thread; optional.
  std::function<void(std::string_view problem)> on_problem;
};

class Server {
 public:
  static Result<std::unique_ptr<Server>> Create(ServerOptions options);
  virtual ~Server() = default;

  virtual void Handle(std::string method, std::string path, Handler handler) = 0;
  virtual Result<> Start() = 0;
  // The bound port, after Start().
  virtual uint16_t port() const = 0;
  // Connections without a thread. From any thread.
  virtual size_t waiting_connections() const = 0;
  // When the certificate in use ends; none without TLS. From any thread.
  virtual std::optional<WallTime> CertificateExpiry() const = 0;
  // No new connections, and those without a request are closed; requests under way may finish
  // within `grace`; then all connections are closed.
  virtual void Stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace synergy::http
