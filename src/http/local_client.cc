#include "http/local_client.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>
#include <sys/socket.h>

#include "http/socket.h"

namespace synergy::http {
namespace {

constexpr std::chrono::seconds kWait{4};
constexpr size_t kLongestAnswer = size_t{64} << 10;

// Returns the data that the server sends until it closes the connection.
Result<std::string> SendAndReceive(const Fd& socket, std::string_view request) {
  for (size_t sent = 0; sent < request.size();) {
    const ssize_t more =
        ::send(socket.get(), request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (more <= 0) return Fail(ErrorCode::kUnavailable, ErrnoText(errno));
    sent += static_cast<size_t>(more);
  }
  std::string answer;
  while (answer.size() < kLongestAnswer) {
    char part[4096];
    const ssize_t more = ::recv(socket.get(), part, sizeof(part), 0);
    if (more < 0) return Fail(ErrorCode::kUnavailable, ErrnoText(errno));
    if (more == 0) break;
    answer.append(part, static_cast<size_t>(more));
  }
  return answer;
}

// Reads "HTTP/1.1 200 OK", headers and the body.
Result<ClientResponse> ReadAnswer(std::string_view answer) {
  constexpr std::string_view kEndOfHead = "\r\n\r\n";
  const size_t status = answer.find(' ');
  const size_t body = answer.find(kEndOfHead);
  ClientResponse response;
  if (!answer.starts_with("HTTP/1.") || status > body || body == answer.npos ||
      std::from_chars(answer.data() + status + 1, answer.data() + body, response.status).ec !=
          std::errc()) {
    return Fail(ErrorCode::kUnavailable, "the answer is not HTTP");
  }
  response.body = answer.substr(body + kEndOfHead.size());
  return response;
}

}  // namespace

Result<ClientResponse> GetLocally(const std::string& unix_socket, const std::string& path) {
  const auto socket = ConnectLocally(unix_socket, kWait);
  if (!socket) return Fail(socket.error());
  const auto answer = SendAndReceive(
      *socket,
      fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path));
  const auto response = answer ? ReadAnswer(*answer) : Result<ClientResponse>(Fail(answer.error()));
  if (response) return response;
  return Fail(response.error().code,
              fmt::format("the Unix socket @{}: {}", unix_socket, response.error().message));
}

}  // namespace synergy::http
