#include "support/fake_listener.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/check.h"

namespace synergy::testing {
namespace {

using BioPointer = std::unique_ptr<BIO, decltype(&::BIO_free)>;

BioPointer ToBio(const std::string& pem) {
  return {::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), ::BIO_free};
}

std::shared_ptr<SSL_CTX> MakeContext(const FakeTls& tls) {
  std::shared_ptr<SSL_CTX> context(::SSL_CTX_new(::TLS_server_method()), ::SSL_CTX_free);
  const std::unique_ptr<X509, decltype(&::X509_free)> certificate(
      ::PEM_read_bio_X509(ToBio(tls.certificate.certificate_pem).get(), nullptr, nullptr, nullptr),
      ::X509_free);
  const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(
      ::PEM_read_bio_PrivateKey(ToBio(tls.certificate.key_pem).get(), nullptr, nullptr, nullptr),
      ::EVP_PKEY_free);
  SYNERGY_CHECK(::SSL_CTX_use_certificate(context.get(), certificate.get()) == 1 &&
                    ::SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1,
                "the test's certificate and key can be used");
  if (!tls.client_authority_pem.empty()) {
    const std::unique_ptr<X509, decltype(&::X509_free)> authority(
        ::PEM_read_bio_X509(ToBio(tls.client_authority_pem).get(), nullptr, nullptr, nullptr),
        ::X509_free);
    ::X509_STORE_add_cert(::SSL_CTX_get_cert_store(context.get()), authority.get());
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return context;
}

sockaddr_in LoopbackAddress(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// Returns a socket on a port of 127.0.0.1 to which several sockets can be bound.
int BindTo(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
  const sockaddr_in address = LoopbackAddress(port);
  SYNERGY_CHECK(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0,
                "a port of the loopback interface is free");
  return fd;
}

uint16_t PortOf(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

}  // namespace

FakeConnection::FakeConnection(int fd, ssl_ctx_st* tls)
    : fd_(fd), tls_(tls ? ::SSL_new(tls) : nullptr, ::SSL_free) {
  if (tls_ != nullptr) ::SSL_set_fd(tls_.get(), fd_);
}

FakeConnection::~FakeConnection() {
  if (secured_) ::SSL_shutdown(tls_.get());
  ::close(fd_);
}

bool FakeConnection::Handshake() {
  ::ERR_clear_error();
  secured_ = tls_ != nullptr && ::SSL_accept(tls_.get()) == 1;
  if (tls_ == nullptr || secured_) return true;
  // Closing a socket with unread data resets the connection, so the client might never see the
  // alert.
  ::shutdown(fd_, SHUT_WR);
  while (ReadMore()) {
  }
  return false;
}

bool FakeConnection::ReadMore() {
  char buffer[16384];
  ::ERR_clear_error();
  const ssize_t got = secured_ ? ::SSL_read(tls_.get(), buffer, sizeof(buffer))
                               : ::recv(fd_, buffer, sizeof(buffer), 0);
  if (got <= 0) return false;
  read_.append(buffer, static_cast<size_t>(got));
  return true;
}

std::optional<std::string> FakeConnection::ReadLine() {
  size_t end = read_.find("\r\n");
  while (end == std::string::npos) {
    if (!ReadMore()) return std::nullopt;
    end = read_.find("\r\n");
  }
  std::string line = read_.substr(0, end);
  read_.erase(0, end + 2);
  return line;
}

std::optional<std::string> FakeConnection::Read(size_t size) {
  while (read_.size() < size) {
    if (!ReadMore()) return std::nullopt;
  }
  std::string data = read_.substr(0, size);
  read_.erase(0, size);
  return data;
}

bool FakeConnection::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    ::ERR_clear_error();
    const ssize_t sent = secured_
                             ? ::SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()))
                             : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool FakeConnection::WaitForEnd(int wake_fd, std::chrono::milliseconds timeout) {
  pollfd waits[2] = {{fd_, POLLIN, 0}, {wake_fd, POLLIN, 0}};
  ::poll(waits, 2, static_cast<int>(timeout.count()));
  if (waits[1].revents != 0) {
    eventfd_t count = 0;
    ::eventfd_read(wake_fd, &count);
    return false;
  }
  return waits[0].revents != 0;
}

void FakeConnection::RelayTo(uint16_t port) {
  const int onward = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = LoopbackAddress(port);
  SYNERGY_CHECK(
      ::connect(onward, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0,
      "the server behind the proxy listens");
  for (bool open = true; open;) {
    if (!read_.empty()) {
      open = ::send(onward, read_.data(), read_.size(), MSG_NOSIGNAL) ==
             static_cast<ssize_t>(read_.size());
      read_.clear();
      continue;
    }
    const bool has_more = secured_ && ::SSL_pending(tls_.get()) > 0;
    pollfd waits[2] = {{fd_, POLLIN, 0}, {onward, POLLIN, 0}};
    if (!has_more) ::poll(waits, 2, -1);
    if (has_more || waits[0].revents != 0) {
      open = ReadMore();
      continue;
    }
    char buffer[16384];
    const ssize_t got = ::recv(onward, buffer, sizeof(buffer), 0);
    open = got > 0 && Write({buffer, static_cast<size_t>(got)});
  }
  ::close(onward);
}

void FakeConnection::Shutdown() { ::shutdown(fd_, SHUT_RDWR); }

void FakeConnection::ResetOnClose() {
  const linger at_once{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  secured_ = false;
}

FakeListener::FakeListener(const std::optional<FakeTls>& tls, bool open) {
  std::signal(SIGPIPE, SIG_IGN);
  reservation_ = BindTo(0);
  port_ = PortOf(reservation_);
  if (tls) tls_ = MakeContext(*tls);
  if (open) Open();
}

FakeListener::~FakeListener() {
  if (fd_ >= 0) ::close(fd_);
  ::close(reservation_);
}

void FakeListener::Open() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = BindTo(port_);
  SYNERGY_CHECK(::listen(fd_, 512) == 0, "a bound socket can listen");
}

std::string FakeListener::url() const {
  return fmt::format("{}://127.0.0.1:{}", tls_ == nullptr ? "http" : "https", port_);
}

std::unique_ptr<FakeConnection> FakeListener::Accept() {
  const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return nullptr;
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return std::make_unique<FakeConnection>(fd, tls_.get());
}

void FakeListener::Close() { ::shutdown(fd_, SHUT_RDWR); }

std::optional<FakeRequest> ReadRequest(FakeConnection& connection) {
  const std::optional<std::string> first = connection.ReadLine();
  if (!first) return std::nullopt;
  FakeRequest request;
  const size_t target = first->find(' ') + 1;
  const std::string uri = first->substr(target, first->find(' ', target) - target);
  request.method = first->substr(0, target - 1);
  request.path = uri.substr(0, uri.find('?'));
  if (request.path.size() < uri.size()) request.query = uri.substr(request.path.size() + 1);
  for (;;) {
    const std::optional<std::string> line = connection.ReadLine();
    if (!line) return std::nullopt;
    if (line->empty()) break;
    const size_t colon = line->find(':');
    std::string name = line->substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    request.headers[name] =
        line->substr(std::min(line->find_first_not_of(' ', colon + 1), line->size()));
  }
  if (const auto length = request.headers.find("content-length"); length != request.headers.end()) {
    std::optional<std::string> body =
        connection.Read(std::strtoull(length->second.c_str(), nullptr, 10));
    if (!body) return std::nullopt;
    request.body = std::move(*body);
  }
  return request;
}

std::string HttpAnswer(int status, std::string_view body, std::string_view headers) {
  return fmt::format(
      "HTTP/1.1 {} Status\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}",
      status, body.size(), headers, body);
}

}  // namespace synergy::testing
