#include "http/channel.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

namespace synergy::http {
namespace {

using std::chrono::milliseconds;

constexpr size_t kBufferSize = size_t{32} << 10;
constexpr size_t kCollectedWrites = size_t{16} << 10;

// Limits of Linger(): how long the peer may be silent, how long reading may last, and how much is
// read.
constexpr milliseconds kLingerSilence{1000};
constexpr milliseconds kLingerLimit{10000};
constexpr size_t kLingerBytes = size_t{512} << 20;

}  // namespace

Channel::Channel(Fd socket)
    : socket_(std::move(socket)), buffer_(std::make_unique_for_overwrite<char[]>(kBufferSize)) {}

Channel::~Channel() {
  // Signal to the peer that the stream is complete; its answer does not matter.
  if (tls_ != nullptr && (state_ == State::kOpen || state_ == State::kEnded))
    ::SSL_shutdown(tls_.get());
  ::ERR_clear_error();
}

void Channel::SetWaits(milliseconds silence_limit, int wake_fd) {
  silence_limit_ = silence_limit;
  wake_fd_ = wake_fd;
}

void Channel::ResetCounts() {
  received_ = false;
  send_failed_ = false;
}

void Channel::Fail(State state, std::string problem) {
  if (state_ != State::kOpen) return;
  state_ = state;
  problem_ = std::move(problem);
}

bool Channel::Wait(bool writable) {
  const auto now = std::chrono::steady_clock::now();
  const bool hurries = deadline_ - now < silence_limit_;
  const milliseconds limit =
      hurries ? std::max(std::chrono::ceil<milliseconds>(deadline_ - now), milliseconds(0))
              : silence_limit_;
  switch (WaitFor(socket_.get(), writable, limit, wake_fd_)) {
    case Ready::kYes:
      return true;
    case Ready::kTimeout:
      Fail(State::kSilent,
           hurries ? "the peer was too slow"
                   : fmt::format("the peer was silent for {} ms", silence_limit_.count()));
      return false;
    case Ready::kWoken:
      Fail(State::kWoken, "stopped");
      return false;
  }
  return false;
}

Channel::Step Channel::TlsStep(int result) {
  switch (::SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_NONE:
      return Step::kDone;
    case SSL_ERROR_WANT_READ:
      return Step::kWantRead;
    case SSL_ERROR_WANT_WRITE:
      return Step::kWantWrite;
    case SSL_ERROR_ZERO_RETURN:
      Fail(State::kEnded, "the connection was closed");
      return Step::kFailed;
    case SSL_ERROR_SYSCALL: {
      const int error = errno;
      Fail(State::kBroken, error == 0 ? "the connection was cut off" : ErrnoText(error));
      return Step::kFailed;
    }
    default:
      // An alert before the first byte of data concerns the handshake (RFC 8446, section 6.2).
      handshake_refused_ =
          !ever_received_ && ERR_GET_REASON(::ERR_peek_last_error()) > SSL_AD_REASON_OFFSET;
      Fail(State::kBroken, TlsProblem());
      return Step::kFailed;
  }
}

Channel::Step Channel::TryRead(char* data, size_t size, size_t* got) {
  if (tls_ != nullptr) {
    ::ERR_clear_error();
    errno = 0;
    return TlsStep(::SSL_read_ex(tls_.get(), data, size, got));
  }
  const ssize_t n = ::recv(socket_.get(), data, size, 0);
  if (n > 0) {
    *got = static_cast<size_t>(n);
    return Step::kDone;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return Step::kWantRead;
  const int error = errno;
  Fail(n == 0 ? State::kEnded : State::kBroken,
       n == 0 ? "the connection was closed" : ErrnoText(error));
  return Step::kFailed;
}

Channel::Step Channel::TryWrite(const char* data, size_t size, size_t* sent) {
  if (tls_ != nullptr) {
    ::ERR_clear_error();
    errno = 0;
    return TlsStep(::SSL_write_ex(tls_.get(), data, size, sent));
  }
  const ssize_t n = ::send(socket_.get(), data, size, MSG_NOSIGNAL);
  if (n >= 0) {
    *sent = static_cast<size_t>(n);
    return Step::kDone;
  }
  if (errno == EAGAIN || errno == EINTR) return Step::kWantWrite;
  Fail(State::kBroken, ErrnoText(errno));
  return Step::kFailed;
}

bool Channel::Fill() {
  buffer_begin_ = buffer_end_ = 0;
  while (state_ == State::kOpen) {
    size_t got = 0;
    switch (TryRead(buffer_.get(), kBufferSize, &got)) {
      case Step::kDone:
        buffer_end_ = got;
        received_ = true;
        ever_received_ = true;
        return true;
      case Step::kFailed:
        return false;
      case Step::kWantRead:
        Wait(/*writable=*/false);
        break;
      case Step::kWantWrite:
        Wait(/*writable=*/true);
        break;
    }
  }
  return false;
}

ssize_t Channel::Read(char* data, size_t size) {
  if (!Flush()) return -1;
  if (read_limit_ == 0) return -1;
  if (buffer_begin_ == buffer_end_ && !Fill()) return state_ == State::kEnded ? 0 : -1;
  const size_t n = std::min({size, buffer_end_ - buffer_begin_, read_limit_});
  std::memcpy(data, buffer_.get() + buffer_begin_, n);
  buffer_begin_ += n;
  read_limit_ -= n;
  return static_cast<ssize_t>(n);
}

bool Channel::Send(const char* data, size_t size) {
  while (size > 0 && state_ == State::kOpen) {
    size_t sent = 0;
    switch (TryWrite(data, size, &sent)) {
      case Step::kDone:
        data += sent;
        size -= sent;
        break;
      case Step::kFailed:
        break;
      case Step::kWantRead:
        Wait(/*writable=*/false);
        break;
      case Step::kWantWrite:
        Wait(/*writable=*/true);
        break;
    }
  }
  if (size > 0) send_failed_ = true;
  return size == 0;
}

bool Channel::Write(const char* data, size_t size) {
  if (unsent_.size() + size <= kCollectedWrites) {
    unsent_.append(data, size);
    return state_ == State::kOpen;
  }
  // Send the head together with one packet's worth of the body, then the rest of the body without a
  // copy.
  const size_t with_head = std::min(size, kCollectedWrites - unsent_.size());
  unsent_.append(data, with_head);
  return Flush() && Send(data + with_head, size - with_head);
}

bool Channel::Flush() {
  if (unsent_.empty()) return true;
  const bool sent = Send(unsent_.data(), unsent_.size());
  if (sent) unsent_.clear();
  return sent;
}

Result<> Channel::Handshake(int (*step)(ssl_st*)) {
  const auto deadline = std::chrono::steady_clock::now() + silence_limit_;
  while (state_ == State::kOpen) {
    ::ERR_clear_error();
    errno = 0;
    switch (TlsStep(step(tls_.get()))) {
      case Step::kDone:
        return {};
      case Step::kFailed:
        break;
      case Step::kWantRead:
        Wait(/*writable=*/false);
        break;
      case Step::kWantWrite:
        Wait(/*writable=*/true);
        break;
    }
    if (std::chrono::steady_clock::now() > deadline)
      Fail(State::kSilent, "the TLS handshake took too long");
  }
  const long verdict = ::SSL_get_verify_result(tls_.get());
  const char* untrusted = verdict == X509_V_OK ? "" : ::X509_verify_cert_error_string(verdict);
  return synergy::Fail(
      state_ == State::kWoken ? ErrorCode::kCancelled : ErrorCode::kUnavailable,
      fmt::format("TLS handshake: {}{}{}", problem_, *untrusted != '\0' ? ": " : "", untrusted));
}

Result<> Channel::AcceptTls(const TlsContext& context) {
  tls_ = MakeSession(context, socket_.get());
  if (tls_ == nullptr) return synergy::Fail(ErrorCode::kUnavailable, TlsProblem());
  return Handshake(::SSL_accept);
}

Result<> Channel::ConnectTls(const TlsContext& context, const std::string& server_name,
                             bool verify) {
  if (buffer_begin_ < buffer_end_)
    return synergy::Fail(ErrorCode::kUnavailable, "TLS handshake: unexpected data before it");
  tls_ =
      tls_ == nullptr ? MakeSession(context, socket_.get()) : MakeSession(context, std::move(tls_));
  ever_received_ = false;  // the bytes so far came from a proxy
  if (tls_ == nullptr || !ExpectServer(tls_.get(), server_name, verify)) {
    return synergy::Fail(ErrorCode::kUnavailable, TlsProblem());
  }
  return Handshake(::SSL_connect);
}

bool Channel::AwaitData(milliseconds timeout, int wake_fd) {
  if (!Flush()) return false;
  if (buffer_begin_ < buffer_end_ || (tls_ != nullptr && ::SSL_pending(tls_.get()) > 0))
    return true;
  return WaitFor(socket_.get(), /*writable=*/false, timeout, wake_fd, /*data_first=*/true) ==
         Ready::kYes;
}

bool Channel::Idle() {
  if (state_ != State::kOpen || !unsent_.empty() || buffer_begin_ < buffer_end_) return false;
  char byte;
  if (tls_ == nullptr) return ::recv(socket_.get(), &byte, 1, MSG_PEEK) < 0 && errno == EAGAIN;
  // Data in the socket is not enough to decide: it may belong to TLS itself, such as a session
  // ticket or the message that ends the stream. So let TLS process it.
  size_t got = 0;
  ::ERR_clear_error();
  return TlsStep(::SSL_peek_ex(tls_.get(), &byte, 1, &got)) == Step::kWantRead;
}

void Channel::Linger() {
  if (!Flush()) return;
  if (tls_ != nullptr) ::SSL_shutdown(tls_.get());
  ::shutdown(socket_.get(), SHUT_WR);
  const auto deadline = std::chrono::steady_clock::now() + kLingerLimit;
  size_t drained = 0;
  while (drained < kLingerBytes && std::chrono::steady_clock::now() < deadline) {
    if (WaitFor(socket_.get(), /*writable=*/false, kLingerSilence, wake_fd_) != Ready::kYes) break;
    const ssize_t got = ::recv(socket_.get(), buffer_.get(), kBufferSize, 0);
    if (got <= 0) break;
    drained += static_cast<size_t>(got);
  }
  Fail(State::kEnded, "closed");
}

}  // namespace synergy::http
