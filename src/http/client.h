#pragma once

// An HTTP/1.1 client for one server, with connections that are kept open and used again.
// cpp-httplib is behind it.
//
// Threading: a Client may be used from any thread; each call under way has a connection of its own.
// Failures: kUnavailable when no connection could be made or not all of the request left, so that
// the server cannot have acted on it; kTimeout when the request left and no whole answer came, be
// it that the server was silent or that the connection broke: it may have acted on it; kCancelled
// after `stop`, where the same is not known; kInvalid for a request that cannot be sent; kTooLarge
// for an answer that is one. A status of 4xx or 5xx is an answer, not a failure.
//
// A kept-open connection may turn out to have been closed by the server. Then the request is sent
// again, once, on a fresh one, if it did not leave completely, or if it is a GET or HEAD and no
// byte of an answer came. SIGPIPE is ignored in the whole process from the first Create() on.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace synergy::http {

struct ClientTls {
  std::string ca_pem;           // empty: the system's
  std::string certificate_pem;  // both or neither: mutual TLS
  std::string key_pem;
  // Where these were read, if they are to be read again when they change.
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string server_name;  // empty: the URL's host
  bool skip_verify = false;
};

struct ClientOptions {
  std::string base_url;  // "https://127.0.0.1:6443", "http://[::1]:8080/prefix"
  ClientTls tls;
  std::chrono::milliseconds connect_timeout{3000};
  std::chrono::milliseconds read_timeout{10000};  // longest silence
  // How long a Send() may take from its connection to the answer's end, however busy the server;
  // none: as long as it goes on.
  std::optional<std::chrono::milliseconds> transfer_timeout;
  size_t max_idle_connections = 8;
  size_t max_response_bytes = size_t{256} << 20;
};

struct ClientRequest {
  std::string method = "GET";
  std::string path;  // with the query, percent-encoded
  std::vector<std::pair<std::string, std::string>> headers;
  std::string content_type;
  std::string body;
};

struct ClientResponse {
  int status = 0;
  std::string body;
  std::optional<std::chrono::seconds> retry_after = {};  // as the server asks, where it says so
};

class Client {
 public:
  static Result<std::unique_ptr<Client>> Create(ClientOptions options);
  virtual ~Client() = default;

  // Of another server, with the same options: one of many, which share what was read for TLS.
  virtual Result<std::unique_ptr<Client>> For(const std::string& base_url) const = 0;

  virtual Result<ClientResponse> Send(const ClientRequest& request, std::stop_token stop = {}) = 0;

  // An answer that goes on: `on_data` is called with nothing as soon as an answer with status 200
  // begins and then with its body's pieces as they come; it returns false to end it. Returns when
  // the answer ends, with status and, for a status other than 200, the body. `stop` ends it at
  // once, also in the middle of a silence.
  virtual Result<ClientResponse> Stream(const ClientRequest& request,
                                        std::chrono::milliseconds silence_limit,
                                        const std::function<bool(std::string_view)>& on_data,
                                        std::stop_token stop) = 0;
};

}  // namespace synergy::http
