#pragma once

// The server's end of connections, byte by byte, for tests of clients and for the fake API server.
// It shares no code with src/http, so that it cannot repeat a mistake there.
//
// Threading: Accept() by one thread; Close() by one thread; a FakeConnection by one thread, except
// Shutdown(), which any thread may call. Calls block until there is something to do, or the
// connection is shut down.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/test_certificates.h"

struct ssl_ctx_st;
struct ssl_st;

namespace synergy::testing {

struct FakeTls {
  TestCertificate certificate;
  // If not empty, clients must present a certificate of this authority.
  std::string client_authority_pem;
};

class FakeConnection {
 public:
  FakeConnection(int fd, ssl_ctx_st* tls);
  ~FakeConnection();
  FakeConnection(const FakeConnection&) = delete;
  FakeConnection& operator=(const FakeConnection&) = delete;

  // Returns false if the handshake failed.
  bool Handshake();
  // Returns a line without its line end; nullopt at the end of the connection.
  std::optional<std::string> ReadLine();
  std::optional<std::string> Read(size_t size);
  bool Write(std::string_view bytes);
  // Waits until the client ends the connection or sends something unexpected, and returns true.
  // Returns false if an event on `wake_fd` (an eventfd, which is emptied) or the timeout comes
  // first.
  bool WaitForEnd(int wake_fd, std::chrono::milliseconds timeout);
  // Connects to that port of 127.0.0.1, and forwards everything in both directions, as a proxy
  // does, until one end closes.
  void RelayTo(uint16_t port);
  // Ends both directions, so that a thread that reads or writes returns. Unlike the destructor, any
  // thread may call it.
  void Shutdown();
  // Makes the destructor reset the connection instead of closing it properly.
  void ResetOnClose();

 private:
  bool ReadMore();

  int fd_;
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> tls_;
  bool secured_ = false;
  std::string read_;
};

class FakeListener {
 public:
  // Binds to a free port of 127.0.0.1.
  explicit FakeListener(const std::optional<FakeTls>& tls = {}, bool open = true);
  ~FakeListener();

  uint16_t port() const { return port_; }
  // "http://127.0.0.1:1234"
  std::string url() const;
  // Returns the next connection; null after Close().
  std::unique_ptr<FakeConnection> Accept();
  // Refuses connections until Open(), and keeps the port.
  // REQUIRES: no Accept() is under way when Open() is called.
  void Close();
  void Open();

 private:
  int reservation_;  // bound but never listening: keeps the port while `fd_` is closed and opened
  int fd_ = -1;
  uint16_t port_ = 0;
  std::shared_ptr<ssl_ctx_st> tls_;
};

struct FakeRequest {
  std::string method;
  std::string path;  // without the query
  std::string query;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// Returns nullopt if the connection has ended.
std::optional<FakeRequest> ReadRequest(FakeConnection& connection);
// `headers`: additional ones, each with its line end.
std::string HttpAnswer(int status, std::string_view body, std::string_view headers = {});

}  // namespace synergy::testing
