#pragma once

// One connection of a client: connects, sends requests and reads answers, and reports exactly how
// far a failed request got. Private to this folder.
//
// Threading: one owner at a time.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "http/client.h"
#include "http/proxy_tunnel.h"
#include "http/tls.h"
#include "http/url.h"

namespace synergy::http {

// How long a call may wait while the server is silent, the event that ends the wait (-1: none), and
// the call's deadline.
struct Waits {
  std::chrono::milliseconds silence_limit;
  int wake_fd = -1;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

class ClientConnection {
 public:
  struct Target {
    BaseUrl url;
    std::string server_name;  // the name that the certificate must match
    bool verify = true;
    std::optional<Proxy> proxy = {};
    TlsContext proxy_tls = {};  // null for a proxy over plain HTTP
  };

  struct Outcome {
    Result<ClientResponse> response;
    // On failure: the request was not sent completely, so the server cannot have acted on it.
    bool not_sent = false;
    // On failure: the connection ended before any byte of an answer, as connections that were kept
    // open can.
    bool ended_unanswered = false;
  };

  // Receives the pieces of the body of an answer with status 200; the first call, without data,
  // comes when that answer begins.
  using OnData = std::function<bool(std::string_view)>;

  // `tls`: null for plain HTTP.
  static Result<std::unique_ptr<ClientConnection>> Open(const Target& target, const TlsContext& tls,
                                                        std::chrono::milliseconds connect_timeout,
                                                        int wake_fd);
  virtual ~ClientConnection() = default;

  // If `on_data` is null, the whole body is collected. Adds the target's path prefix.
  virtual Outcome Send(const ClientRequest& request, const Waits& waits, size_t max_response_bytes,
                       const OnData* on_data) = 0;
  // Returns whether the connection can take another request.
  virtual bool Reusable() = 0;
};

}  // namespace synergy::http
