#include "support/raw_connection.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/check.h"

namespace synergy::testing {
namespace {

constexpr int kPatienceMs = 10'000;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

// No server listens on these addresses, so a connection from them cannot occupy a server's port.
constexpr in_addr_t kOthers = 0x7F090000;  // 127.9.0.0

}  // namespace

RawConnection::RawConnection(uint16_t port, uint8_t host)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(kOthers | host);
  SYNERGY_CHECK(
      host == 0 || ::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0,
      "the whole of 127.0.0.0/8 is this machine");
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  SYNERGY_CHECK(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0,
                "the server under test listens");
}

RawConnection::~RawConnection() {
  if (fd_ >= 0) ::close(fd_);
}

RawConnection::RawConnection(RawConnection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), ended_(other.ended_), read_(std::move(other.read_)) {}

bool RawConnection::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

void RawConnection::FinishSending() { ::shutdown(fd_, SHUT_WR); }

bool RawConnection::ReadMore() {
  pollfd wait{fd_, POLLIN, 0};
  if (ended_ || ::poll(&wait, 1, kPatienceMs) != 1) return false;
  char buffer[16384];
  const ssize_t got = ::recv(fd_, buffer, sizeof(buffer), 0);
  if (got <= 0) {
    ended_ = true;
    return false;
  }
  read_.append(buffer, static_cast<size_t>(got));
  return true;
}

std::string RawConnection::ReadAnswer() {
  size_t head_end = read_.find("\r\n\r\n");
  while (head_end == std::string::npos && ReadMore()) head_end = read_.find("\r\n\r\n");
  if (head_end == std::string::npos) return std::exchange(read_, {});
  size_t size = head_end + 4;
  const std::string head = Lower(read_.substr(0, size));
  if (const size_t length = head.find("\r\ncontent-length:"); length != std::string::npos) {
    size += std::strtoull(head.c_str() + length + 17, nullptr, 10);
  }
  while (read_.size() < size && ReadMore()) {
  }
  std::string answer = read_.substr(0, size);
  read_.erase(0, size);
  return answer;
}

std::string RawConnection::ReadToEnd() {
  while (ReadMore()) {
  }
  return std::exchange(read_, {});
}

bool RawConnection::IsClosed() {
  while (read_.empty() && ReadMore()) {
  }
  return ended_ && read_.empty();
}

std::string BodyOf(const std::string& answer) {
  const size_t head_end = answer.find("\r\n\r\n");
  return head_end == std::string::npos ? std::string() : answer.substr(head_end + 4);
}

}  // namespace synergy::testing
