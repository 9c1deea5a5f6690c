#include "http/socket.h"

#include <chrono>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <netdb.h>
#include <sys/socket.h>

namespace synergy::http {
namespace {

using std::chrono::milliseconds;

struct AddressDeleter {
  void operator()(addrinfo* address) const { ::freeaddrinfo(address); }
};
using Address = std::unique_ptr<addrinfo, AddressDeleter>;

Address Loopback(uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  EXPECT_EQ(::getaddrinfo("127.0.0.1", std::to_string(port).c_str(), &hints, &found), 0);
  return Address(found);
}

// A port at which connections are neither accepted nor refused, because its backlog is full.
class BlackHole {
 public:
  BlackHole() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const Address any = Loopback(0);
    EXPECT_EQ(::bind(socket_.get(), any->ai_addr, any->ai_addrlen), 0);
    EXPECT_EQ(::listen(socket_.get(), 0), 0);
    const Address self = Loopback(port());
    // One connection could be accepted, and some wait for a place.
    for (int i = 0; i < 4; ++i) {
      fillers_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      ::connect(fillers_.back().get(), self->ai_addr, self->ai_addrlen);
    }
  }
  uint16_t port() const { return LocalPort(socket_); }

 private:
  Fd socket_;
  std::vector<Fd> fillers_;
};

TEST(ConnectToAnyTest, AnAddressThatNothingComesBackFromLeavesTimeForTheNext) {
  const BlackHole hole;
  const Result<Fd> server = Listen("127.0.0.1", 0);
  ASSERT_TRUE(server);
  const Address first = Loopback(hole.port());
  const Address second = Loopback(LocalPort(*server));
  EXPECT_FALSE(ConnectToAny(first.get(), milliseconds(300), -1)) << "it answers";
  first->ai_next = second.get();
  const Result<Fd> connected = ConnectToAny(first.get(), milliseconds(1000), -1);
  EXPECT_TRUE(connected) << connected.error().message;
  first->ai_next = nullptr;
}

TEST(ListenTest, AllAddressesAreThoseOfIpv4AndIpv6) {
  const Result<Fd> server = Listen("", 0);
  ASSERT_TRUE(server);
  const uint16_t port = LocalPort(*server);
  EXPECT_TRUE(Connect("127.0.0.1", port, milliseconds(1000), -1));
  if (!Listen("::1", 0)) GTEST_SKIP() << "this machine has no IPv6";
  EXPECT_TRUE(Connect("::1", port, milliseconds(1000), -1));
}

}  // namespace
}  // namespace synergy::http
