#pragma once

// Sockets and the descriptors next to them. Private to this folder.
//
// Threading: an Fd has one owner; a WakeEvent may be signalled and waited for by any thread.
// Everything is non-blocking and closed on exec; waiting is done in WaitFor alone.

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "core/result.h"

struct addrinfo;

namespace synergy::http {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd();

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Something that threads in WaitFor() can be woken with, all at once and for good.
class WakeEvent {
 public:
  WakeEvent();
  void Signal();
  int fd() const { return fd_.get(); }

 private:
  Fd fd_;
};

// A WakeEvent that is signalled as soon as `stop` is requested.
class StopEvent {
 public:
  explicit StopEvent(const std::stop_token& stop);
  // -1 when the token can never be stopped.
  int fd() const { return event_ ? event_->fd() : -1; }

 private:
  struct Wake {
    WakeEvent& event;
    void operator()() const { event.Signal(); }
  };

  std::optional<WakeEvent> event_;
  std::optional<std::stop_callback<Wake>> callback_;
};

enum class Ready { kYes, kTimeout, kWoken };

// Waits until `fd` is readable (or writable), broken connections included. `wake_fd` may be -1.
// When both are ready, the answer is kYes only if `data_first`.
Ready WaitFor(int fd, bool writable, std::chrono::milliseconds timeout, int wake_fd,
              bool data_first = false);

// A listening socket. An empty host means all addresses.
Result<Fd> Listen(const std::string& host, uint16_t port);
uint16_t LocalPort(const Fd& socket);
// The address of the other end, without its port; empty where there is none.
std::string PeerAddress(const Fd& socket);
// Whether an address as PeerAddress() writes it is of this machine alone.
bool IsLoopback(const std::string& address);

// A connection with TCP_NODELAY. The name's look-up cannot be interrupted; all else ends within
// `timeout` or on `wake_fd`.
Result<Fd> Connect(const std::string& host, uint16_t port, std::chrono::milliseconds timeout,
                   int wake_fd);
// The same to the first of a list of addresses that takes it; each has an equal part of the time
// that is left.
Result<Fd> ConnectToAny(const addrinfo* addresses, std::chrono::milliseconds timeout, int wake_fd);

void SetNoDelay(int fd);

// errno's text.
std::string ErrnoText(int error);

}  // namespace synergy::http
