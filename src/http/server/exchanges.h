#pragma once

// Handles requests and answers on one connection: cpp-httplib reads and writes them, and this class
// decides what is read and answered. Private to this folder.
//
// Threading: call Handle() before the first ServeOne(); any number of threads may call ServeOne(),
// with one channel each.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "http/channel.h"
#include "http/server/server.h"

namespace synergy::http {

class Exchanges {
 public:
  struct Options {
    size_t max_body_bytes = 0;
    size_t max_bodies_bytes = 0;  // same as in ServerOptions
    ErrorResponse error_response;
    std::chrono::milliseconds transfer_timeout{};  // same as in ServerOptions
    // Returns whether the answer about to be written should be the last of its connection.
    std::function<bool()> closing;
  };

  explicit Exchanges(Options options);
  ~Exchanges();

  void Handle(std::string method, std::string path, Handler handler);

  enum class Next {
    kKeepOpen,
    kClose,
    kLinger,  // close, but the client may still be sending: see Channel::Linger()
  };
  // Reads one request, passes it to its handler and writes the answer. Calls `on_handler` when a
  // handler begins (true) and ends (false): in between, the server does not wait for the client.
  Next ServeOne(Channel& channel, const std::function<void(bool)>& on_handler);

 private:
  class Library;

  std::unique_ptr<Library> library_;
};

}  // namespace synergy::http
