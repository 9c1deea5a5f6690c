#include "kube/device_watches.h"

#include <chrono>
#include <memory>

#include <gtest/gtest.h>

#include "support/fake_api_server.h"
#include "support/fake_clock.h"
#include "support/recorded_log.h"

namespace synergy::kube {
namespace {

TEST(DeviceWatchesTest, WithoutTheApiNothingIsWatchedAndTheLogNamesTheCure) {
  synergy::testing::FakeApiServer server;
  synergy::testing::FakeClock clock;
  synergy::testing::RecordedLog lines;
  Logger log(lines, clock, LogLevel::kDebug, LogFormat::kText);
  const std::unique_ptr<ApiClient> client = *ApiClient::Create(server.access());
  ClusterState state;
  DeviceWatches devices(state, *client, log);
  Watches watches(*client, wire::ObjectReader(), std::chrono::seconds(60), clock, log);
  devices.Start(watches, {"nvidia.com/gpu", {"gpu.nvidia.com"}});
  EXPECT_TRUE(watches.resources().empty());
  EXPECT_EQ(server.requests().back().path, "/apis/resource.k8s.io/v1");
  EXPECT_EQ(lines.Count("set dra.enabled to false"), 1U);
}

}  // namespace
}  // namespace synergy::kube
