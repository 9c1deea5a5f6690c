#pragma once

// One connection of a client: connects, sends requests and reads answers, and says precisely how
// far a failed one got. Private to this folder.
//
// Threading: one owner at a time.

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "core/result.h"
#include "http/client.h"
#include "http/tls.h"
#include "http/url.h"

namespace synergy::http {

// How long a call may wait for the server to say something, what ends it (-1: nothing), and when it
// has to be over.
struct Waits {
  std::chrono::milliseconds silence_limit;
  int wake_fd = -1;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

class ClientConnection {
 public:
  struct Target {
    BaseUrl url;
    std::string server_name;  // that the certificate must be for
    bool verify = true;
  };

  struct Outcome {
    Result<ClientResponse> response;
    // Of a failure: nothing, or not all, of the request left, so that the server cannot have acted
    // on it.
    bool not_sent = false;
    // Of a failure: the connection ended without a byte of an answer, as kept-open ones do.
    bool ended_unanswered = false;
  };

  // Gets the body's pieces of an answer with status 200; first called with nothing when that answer
  // begins.
  using OnData = std::function<bool(std::string_view)>;

  // `tls`: null for a plain one.
  static Result<std::unique_ptr<ClientConnection>> Open(const Target& target, const TlsContext& tls,
                                                        std::chrono::milliseconds connect_timeout,
                                                        int wake_fd);
  virtual ~ClientConnection() = default;

  // `on_data` may be null: then every body is collected. The target's path prefix is added here.
  virtual Outcome Send(const ClientRequest& request, const Waits& waits, size_t max_response_bytes,
                       const OnData* on_data) = 0;
  // Whether the connection can take another request.
  virtual bool Reusable() = 0;
};

}  // namespace synergy::http
