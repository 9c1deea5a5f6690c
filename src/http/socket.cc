#include "http/socket.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/check.h"

namespace synergy::http {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A client that opens many connections at once must not wait for SYN retransmissions: with the
// library's own backlog of 5, the sixth connection takes a second longer.
constexpr int kBacklog = 1024;

milliseconds Left(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  return std::max(left, milliseconds(0));
}

struct AddressesDeleter {
  void operator()(addrinfo* addresses) const { ::freeaddrinfo(addresses); }
};
using Addresses = std::unique_ptr<addrinfo, AddressesDeleter>;

Result<Addresses> LookUp(const std::string& host, uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                   std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("cannot look up {}: {}", host, ::gai_strerror(failed)));
  }
  return Addresses(found);
}

Fd Open(const addrinfo& address) {
  return Fd(::socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                     address.ai_protocol));
}

bool BindAndListen(int fd, const addrinfo& address) {
  const int on = 1;
  const int off = 0;
  // Avoid SO_REUSEPORT, the library's default, which lets two servers share a port unnoticed.
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.ai_family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  return ::bind(fd, address.ai_addr, address.ai_addrlen) == 0 && ::listen(fd, kBacklog) == 0;
}

// The address of an abstract Unix socket.
struct LocalAddress {
  sockaddr_un address{};
  socklen_t size = 0;

  static Result<LocalAddress> Of(const std::string& name) {
    LocalAddress local;
    local.address.sun_family = AF_UNIX;
    // A leading zero byte makes the name abstract.
    if (name.size() + 1 > sizeof(local.address.sun_path)) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("the name of the Unix socket @{} is longer than {} bytes", name,
                              sizeof(local.address.sun_path) - 1));
    }
    std::copy(name.begin(), name.end(), local.address.sun_path + 1);
    local.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return local;
  }
  const sockaddr* Get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

}  // namespace

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

WakeEvent::WakeEvent() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  SYNERGY_CHECK(fd_.valid(), "an eventfd can be made");
}

void WakeEvent::Signal() { ::eventfd_write(fd_.get(), 1); }

StopEvent::StopEvent(const std::stop_token& stop) {
  if (!stop.stop_possible()) return;
  event_.emplace();
  callback_.emplace(stop, Wake{*event_});
}

Ready WaitFor(int fd, bool writable, milliseconds timeout, int wake_fd, bool data_first) {
  const Clock::time_point deadline = Clock::now() + timeout;
  pollfd waits[2] = {{fd, static_cast<short>(writable ? POLLOUT : POLLIN), 0},
                     {wake_fd, POLLIN, 0}};
  for (;;) {
    const int ready = ::poll(waits, 2, static_cast<int>(Left(deadline).count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Ready::kTimeout;
    if (waits[1].revents != 0 && !(data_first && waits[0].revents != 0)) return Ready::kWoken;
    return Ready::kYes;
  }
}

Result<Fd> Listen(const std::string& host, uint16_t port) {
  Result<Addresses> addresses = LookUp(host, port, AI_PASSIVE);
  if (!addresses) return Fail(addresses.error());
  int error = 0;
  // For all addresses, IPv6 comes first, because such a socket also accepts IPv4.
  for (const bool v6 : {true, false}) {
    for (const addrinfo* address = addresses->get(); address != nullptr;
         address = address->ai_next) {
      if (host.empty() && (address->ai_family == AF_INET6) != v6) continue;
      Fd fd = Open(*address);
      if (fd.valid() && BindAndListen(fd.get(), *address)) return fd;
      error = errno;
    }
  }
  return Fail(ErrorCode::kUnavailable,
              fmt::format("cannot listen on {}:{}: {}", host, port, ErrnoText(error)));
}

Result<Fd> ListenLocally(const std::string& name) {
  const auto address = LocalAddress::Of(name);
  if (!address) return Fail(address.error());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.valid() && ::bind(fd.get(), address->Get(), address->size) == 0 &&
      ::listen(fd.get(), kBacklog) == 0) {
    return fd;
  }
  return Fail(ErrorCode::kUnavailable,
              fmt::format("cannot listen on the Unix socket @{}: {}", name, ErrnoText(errno)));
}

Result<Fd> ConnectLocally(const std::string& name, milliseconds timeout) {
  const auto address = LocalAddress::Of(name);
  if (!address) return Fail(address.error());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(timeout);
  const timeval wait{.tv_sec = seconds.count(),
                     .tv_usec = std::chrono::microseconds(timeout - seconds).count()};
  // SO_SNDTIMEO also limits connect().
  if (fd.valid() && ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) == 0 &&
      ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) == 0 &&
      ::connect(fd.get(), address->Get(), address->size) == 0) {
    return fd;
  }
  return Fail(ErrorCode::kUnavailable,
              fmt::format("cannot connect to the Unix socket @{}: {}", name, ErrnoText(errno)));
}

uint16_t LocalPort(const Fd& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string PeerAddress(const Fd& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  char text[NI_MAXHOST];
  if (::getpeername(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      address.ss_family == AF_UNIX ||
      ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, text, sizeof(text), nullptr,
                    0, NI_NUMERICHOST) != 0) {
    return {};
  }
  // The prefix of an IPv4 client's address on a dual-stack socket.
  constexpr std::string_view kMapped = "::ffff:";
  const std::string_view name = text;
  return std::string(name.starts_with(kMapped) ? name.substr(kMapped.size()) : name);
}

bool IsLoopback(const std::string& address) {
  return address == "::1" || address.starts_with("127.");
}

Result<Fd> Connect(const std::string& host, uint16_t port, milliseconds timeout, int wake_fd) {
  const Clock::time_point deadline = Clock::now() + timeout;
  Result<Addresses> addresses = LookUp(host, port, 0);
  if (!addresses) return Fail(addresses.error());
  Result<Fd> connected = ConnectToAny(addresses->get(), Left(deadline), wake_fd);
  if (connected || connected.error().code == ErrorCode::kCancelled) return connected;
  return Fail(connected.error().code,
              fmt::format("cannot connect to {}:{}: {}", host, port, connected.error().message));
}

Result<Fd> ConnectToAny(const addrinfo* addresses, milliseconds timeout, int wake_fd) {
  const Clock::time_point deadline = Clock::now() + timeout;
  int left = 0;
  for (const addrinfo* address = addresses; address != nullptr; address = address->ai_next) ++left;
  std::string problem = "no address";
  for (const addrinfo* address = addresses; address != nullptr; address = address->ai_next) {
    // Divide the time left equally, so that an address that does not answer leaves time for the
    // others.
    const milliseconds part = Left(deadline) / left--;
    Fd fd = Open(*address);
    if (!fd.valid()) {
      problem = ErrnoText(errno);
      continue;
    }
    int error = ::connect(fd.get(), address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      const Ready ready = WaitFor(fd.get(), /*writable=*/true, part, wake_fd);
      if (ready == Ready::kWoken) return Fail(ErrorCode::kCancelled, "stopped while connecting");
      socklen_t size = sizeof(error);
      ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      if (ready == Ready::kTimeout) error = ETIMEDOUT;
    }
    if (error == 0) {
      SetNoDelay(fd.get());
      return fd;
    }
    problem = ErrnoText(error);
  }
  return Fail(ErrorCode::kUnavailable, std::move(problem));
}

void SetNoDelay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

std::string ErrnoText(int error) {
  char text[128];
  return ::strerror_r(error, text, sizeof(text));
}

}  // namespace synergy::http
