#include "cluster/separation.h"

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

Separation WithPort(const HostPort& port) { return {.host_ports = {port}}; }

TEST(Separation, PodsShareAPortOfOneProtocolAndAddress) {
  const Separation tcp = WithPort({"0.0.0.0", "TCP", 80});
  EXPECT_TRUE(ShareAPort(tcp, tcp));
  EXPECT_TRUE(ShareAPort(tcp, WithPort({"10.0.0.1", "TCP", 80}))) << "all addresses";
  EXPECT_FALSE(ShareAPort(tcp, WithPort({"0.0.0.0", "UDP", 80})));
  EXPECT_FALSE(ShareAPort(tcp, WithPort({"0.0.0.0", "TCP", 81})));
  EXPECT_FALSE(ShareAPort(WithPort({"10.0.0.1", "TCP", 80}), WithPort({"10.0.0.2", "TCP", 80})));
  EXPECT_FALSE(ShareAPort(tcp, {}));
}

}  // namespace
}  // namespace synergy::testing
