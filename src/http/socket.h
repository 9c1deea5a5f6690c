#pragma once

// Sockets and related descriptors. Private to this folder.
//
// Threading: an Fd has one owner; any thread may signal or wait for a WakeEvent. All descriptors
// except that of ConnectLocally() are non-blocking, and all are closed on exec; only WaitFor()
// waits.

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

// Wakes all threads in WaitFor(), permanently.
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
  // -1 if the token can never be stopped.
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

// Waits until `fd` is readable (or writable), or its connection is broken. `wake_fd` may be -1. If
// both are ready, the result is kYes only if `data_first`.
Ready WaitFor(int fd, bool writable, std::chrono::milliseconds timeout, int wake_fd,
              bool data_first = false);

// Returns a listening socket. An empty host means all addresses.
Result<Fd> Listen(const std::string& host, uint16_t port);
// Abstract Unix sockets, which are reachable within this process's network namespace. The
// connection is blocking; `timeout` limits connecting, and each read and write.
Result<Fd> ListenLocally(const std::string& name);
Result<Fd> ConnectLocally(const std::string& name, std::chrono::milliseconds timeout);
uint16_t LocalPort(const Fd& socket);
// Returns the address of the other end, without its port; empty if there is none, as with Unix
// sockets.
std::string PeerAddress(const Fd& socket);
// Returns whether an address from PeerAddress() belongs to this machine only.
bool IsLoopback(const std::string& address);

// Connects with TCP_NODELAY. The name lookup cannot be interrupted; the rest ends within `timeout`
// or on `wake_fd`.
Result<Fd> Connect(const std::string& host, uint16_t port, std::chrono::milliseconds timeout,
                   int wake_fd);
// Connects to the first of several addresses that accepts; each gets an equal part of the time
// left.
Result<Fd> ConnectToAny(const addrinfo* addresses, std::chrono::milliseconds timeout, int wake_fd);

void SetNoDelay(int fd);

// Returns errno's text.
std::string ErrnoText(int error);

}  // namespace synergy::http
