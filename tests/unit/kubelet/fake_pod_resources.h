#pragma once

// The kubelet's pod resources API. It has one pod, team/train, whose container "main" has some
// devices on NUMA node 1. The device "GPU-9" is free; its NUMA node is unknown.
//
// Threading: from any thread.

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "kubelet/pod_resources.grpc.pb.h"

namespace synergy::testing {

// How long a client waits for its answers: a busy machine under a sanitizer is slow.
inline constexpr std::chrono::minutes kPatience{1};

class FakePodResources final : public v1::PodResourcesLister::Service {
 public:
  explicit FakePodResources(const std::string& socket,
                            std::vector<std::string> devices = {"GPU-0", "GPU-1"})
      : devices_(std::move(devices)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakePodResources() override { server_->Shutdown(std::chrono::system_clock::now()); }

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
    Fill(*container->add_devices());
    return grpc::Status::OK;
  }

  grpc::Status GetAllocatableResources(grpc::ServerContext* /*context*/,
                                       const v1::AllocatableResourcesRequest* /*request*/,
                                       v1::AllocatableResourcesResponse* response) override {
    Fill(*response->add_devices());
    v1::ContainerDevices* free = response->add_devices();
    free->set_resource_name("nvidia.com/gpu");
    free->add_device_ids("GPU-9");
    return grpc::Status::OK;
  }

  std::atomic<int> calls = 0;

 private:
  void Fill(v1::ContainerDevices& devices) const {
    devices.set_resource_name("nvidia.com/gpu");
    for (const std::string& device : devices_) devices.add_device_ids(device);
    devices.mutable_topology()->add_nodes()->set_id(1);
  }

  const std::vector<std::string> devices_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace synergy::testing
