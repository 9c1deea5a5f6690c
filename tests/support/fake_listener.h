#pragma once

// The server's end of connections, byte by byte: what tests of clients and the fake API server are
// built on. It shares no code with src/http, so that a mistake there is not made here as well.
//
// Threading: Accept() by one thread; Close() and everything of a FakeConnection but its Shutdown()
// likewise; Shutdown() by any. Everything blocks until there is something to do or the connection
// is shut down.

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
  std::string client_authority_pem;  // not empty: clients must show a certificate of it
};

class FakeConnection {
 public:
  FakeConnection(int fd, ssl_ctx_st* tls);
  ~FakeConnection();
  FakeConnection(const FakeConnection&) = delete;
  FakeConnection& operator=(const FakeConnection&) = delete;

  // False: the handshake failed.
  bool Handshake();
  // Without its line end; none at the end.
  std::optional<std::string> ReadLine();
  std::optional<std::string> Read(size_t size);
  bool Write(std::string_view bytes);
  // Waits for the client to end the connection, or to send something that nobody expects: true.
  // False when `wake_fd` (an eventfd, which is emptied) or the time comes first.
  bool WaitForEnd(int wake_fd, std::chrono::milliseconds timeout);
  // Ends both directions; a thread that reads or writes returns. Unlike the destructor, for any
  // thread.
  void Shutdown();
  // Makes the destructor reset the connection instead of closing it in good order.
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
  // On a free port of 127.0.0.1, open unless said otherwise.
  explicit FakeListener(const std::optional<FakeTls>& tls = {}, bool open = true);
  ~FakeListener();

  uint16_t port() const { return port_; }
  // "http://127.0.0.1:1234"
  std::string url() const;
  // The next connection; null after Close().
  std::unique_ptr<FakeConnection> Accept();
  // No more connections: they are refused until Open(). The port stays ours. Open() only when no
  // Accept() is under way.
  void Close();
  void Open();

 private:
  int reservation_;  // bound but never listening: keeps the port while `fd_` comes and goes
  int fd_ = -1;
  uint16_t port_ = 0;
  std::shared_ptr<ssl_ctx_st> tls_;
};

struct FakeRequest {
  std::string method;
  std::string path;  // without the query
  std::string query;
  std::map<std::string, std::string> headers;  // names in small letters
  std::string body;
};

// None when the connection ended.
std::optional<FakeRequest> ReadRequest(FakeConnection& connection);
// `headers`: more of them, each with its line end.
std::string HttpAnswer(int status, std::string_view body, std::string_view headers = {});

}  // namespace synergy::testing
