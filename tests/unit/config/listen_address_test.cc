#include "config/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::config {
namespace {

using ::testing::HasSubstr;

struct AddressCase {
  std::string text;
  std::string host;
  int port;
};

TEST(ListenAddressTest, IsHostAndPort) {
  const AddressCase cases[] = {{"127.0.0.1:8888", "127.0.0.1", 8888},
                               {"localhost:0", "localhost", 0},
                               {"[::1]:8888", "::1", 8888},
                               {"[::]:65535", "::", 65535},
                               {":8888", "", 8888}};
  for (const auto& [text, host, port] : cases) {
    const Result<ListenAddress> address = ParseListenAddress(text);
    ASSERT_TRUE(address.has_value()) << text;
    EXPECT_EQ(address->host, host) << text;
    EXPECT_EQ(address->port, port) << text;
  }
}

TEST(ListenAddressTest, AnythingElseIsRefused) {
  for (const std::string text :
       {"", ":", "host", "host:", "host:port", "host:-1", "host:+1", "host:65536", "host:80 ",
        "host: 80", "host:8x", "::1:80", "[::1]", "[::1:80"}) {
    const Result<ListenAddress> address = ParseListenAddress(text);
    ASSERT_FALSE(address.has_value()) << text;
    EXPECT_EQ(address.error().message,
              "\"" + text + "\" is not host:port, as in 127.0.0.1:8888, [::1]:8888 or :8888");
  }
}

}  // namespace
}  // namespace synergy::config
