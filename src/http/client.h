#pragma once

// An HTTP/1.1 client for one server; it keeps connections open and reuses them. Built on
// cpp-httplib.
//
// Threading: any thread may use a Client; each call in progress has its own connection.
//
// Failures:
//   kUnavailable  no connection was made, or the request was not sent completely, so the server
//                 cannot have acted on it
//   kTimeout      the request was sent, but the server was silent or the connection broke before a
//                 complete answer came; the server may have acted on it
//   kCancelled    `stop` was requested; the server may have acted
//   kInvalid      the request cannot be sent
//   kTooLarge     the answer exceeds the limit
// A 4xx or 5xx status is an answer, not a failure.
//
// The server may have closed a connection that was kept open. The client then sends the request
// once more, on a new connection. It does so only if the request was not sent completely, or is a
// GET or HEAD without a byte of an answer. The first Create() makes the whole process ignore
// SIGPIPE.

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
  std::string ca_pem;           // empty: the system's authorities
  std::string certificate_pem;  // set both or neither: mutual TLS
  std::string key_pem;
  // The files of these values, which are read again when they change; empty: no file.
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string server_name;  // empty: the URL's host
  bool skip_verify = false;
};

struct ClientOptions {
  std::string base_url;  // "https://127.0.0.1:6443", "http://[::1]:8080/prefix"
  ClientTls tls;
  // The proxy that leads to the server, such as "http://user:password@proxy:3128"; empty: none. A
  // proxy with https:// may have a certificate from the system's authorities or from the server's.
  std::string proxy;
  std::chrono::milliseconds connect_timeout{3000};
  std::chrono::milliseconds read_timeout{10000};  // longest silence
  // Longest time for a Send(), from connecting to the end of the answer, even while data arrives;
  // absent: no limit.
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
  std::optional<std::chrono::seconds> retry_after = {};  // if the server requested it
};

class Client {
 public:
  static Result<std::unique_ptr<Client>> Create(ClientOptions options);
  virtual ~Client() = default;

  // Returns a client for another server with the same options; it shares the TLS files already
  // read.
  virtual Result<std::unique_ptr<Client>> For(const std::string& base_url) const = 0;

  virtual Result<ClientResponse> Send(const ClientRequest& request, std::stop_token stop = {}) = 0;

  // Receives a streamed answer. Calls `on_data` without data as soon as an answer with status 200
  // begins, then with the pieces of its body as they arrive. `on_data` returns false to end the
  // answer. Returns at the end of the answer, with the status and, for a status other than 200, the
  // body. `stop` ends it immediately, even while the server is silent.
  virtual Result<ClientResponse> Stream(const ClientRequest& request,
                                        std::chrono::milliseconds silence_limit,
                                        const std::function<bool(std::string_view)>& on_data,
                                        std::stop_token stop) = 0;
};

}  // namespace synergy::http
