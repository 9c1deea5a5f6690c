#include "deviceplugin/pod_resources.h"

#include <chrono>
#include <memory>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "deviceplugin/protocol/pod_resources.grpc.pb.h"
#include "support/fake_clock.h"
#include "support/temporary_folder.h"

namespace synergy::testing {
namespace {

using deviceplugin::PodResources;

class FakeLister final : public v1::PodResourcesLister::Service {
 public:
  explicit FakeLister(const std::string& socket) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeLister() override { server_->Shutdown(std::chrono::system_clock::now()); }

  grpc::Status List(grpc::ServerContext* /*context*/,
                    const v1::ListPodResourcesRequest* /*request*/,
                    v1::ListPodResourcesResponse* response) override {
    ++calls;
    v1::PodResources* pod = response->add_pod_resources();
    pod->set_name("train");
    pod->set_namespace_("team");
    pod->add_containers()->set_name("sidecar");
    v1::ContainerResources* container = pod->add_containers();
    container->set_name("main");
    v1::ContainerDevices* devices = container->add_devices();
    devices->set_resource_name("nvidia.com/gpu");
    devices->add_device_ids("GPU-0");
    devices->add_device_ids("GPU-1");
    return grpc::Status::OK;
  }

  std::atomic<int> calls = 0;

 private:
  std::unique_ptr<grpc::Server> server_;
};

TEST(PodResourcesTest, TellsTheOwnerOfEveryDeviceAndAsksAtMostOnceASecond) {
  const TemporaryFolder folder;
  FakeClock clock;
  FakeLister kubelet(folder.Path("s"));
  PodResources resources(folder.Path("s"), clock);
  const auto owners = resources.List();
  ASSERT_TRUE(owners) << owners.error().message;
  ASSERT_EQ(owners->size(), 2U);
  EXPECT_EQ((*owners)[1].device, "GPU-1");
  EXPECT_EQ((*owners)[1].pod_namespace, "team");
  EXPECT_EQ((*owners)[1].pod, "train");
  EXPECT_EQ((*owners)[1].container, "main");
  EXPECT_TRUE(resources.List());
  EXPECT_EQ(kubelet.calls, 1);
  clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(resources.List());
  EXPECT_EQ(kubelet.calls, 2);
}

TEST(PodResourcesTest, AKubeletThatComesLaterIsFound) {
  const TemporaryFolder folder;
  FakeClock clock;
  PodResources resources(folder.Path("s"), clock);
  EXPECT_EQ(resources.List().error().code, ErrorCode::kUnavailable);
  FakeLister kubelet(folder.Path("s"));
  clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(resources.List());
}

}  // namespace
}  // namespace synergy::testing
