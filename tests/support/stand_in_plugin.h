#pragma once

// A device plugin beside Synergy's. It serves a socket with the given name in the kubelet's folder,
// registers it on request, and passes devices to containers in an environment variable, as NVIDIA's
// does.
//
// Threading: from any thread.

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "deviceplugin/protocol/device_plugin.grpc.pb.h"

namespace synergy::testing {

class StandInPlugin final : public v1beta1::DevicePlugin::Service {
 public:
  StandInPlugin(std::string folder, std::string socket, std::string resource,
                std::vector<std::string> ids)
      : folder_(std::move(folder)),
        socket_(std::move(socket)),
        resource_(std::move(resource)),
        ids_(std::move(ids)) {
    Serve();
  }
  ~StandInPlugin() override { End(); }

  // Serves again after End(), as after a restart of the kubelet, which deletes the sockets.
  void Serve() {
    ending_ = false;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + folder_ + "/" + socket_, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  void End() {
    if (!server_) return;
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      changed_.notify_all();
    }
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
    server_.reset();
  }

  grpc::Status Register() {
    const auto channel = grpc::CreateChannel("unix:" + folder_ + "/kubelet.sock",
                                             grpc::InsecureChannelCredentials());
    v1beta1::RegisterRequest request;
    request.set_version("v1beta1");
    request.set_endpoint(socket_);
    request.set_resource_name(resource_);
    grpc::ClientContext context;
    v1beta1::Empty answer;
    return v1beta1::Registration::NewStub(channel)->Register(&context, request, &answer);
  }

 private:
  grpc::Status GetDevicePluginOptions(grpc::ServerContext* /*context*/,
                                      const v1beta1::Empty* /*request*/,
                                      v1beta1::DevicePluginOptions* /*response*/) override {
    return grpc::Status::OK;
  }
  grpc::Status ListAndWatch(grpc::ServerContext* context, const v1beta1::Empty* /*request*/,
                            grpc::ServerWriter<v1beta1::ListAndWatchResponse>* writer) override {
    v1beta1::ListAndWatchResponse list;
    for (const std::string& id : ids_) {
      v1beta1::Device* device = list.add_devices();
      device->set_id(id);
      device->set_health("Healthy");
    }
    writer->Write(list);
    std::unique_lock lock(mutex_);
    while (!ending_ && !context->IsCancelled())
      changed_.wait_for(lock, std::chrono::milliseconds(100));
    return grpc::Status::OK;
  }
  grpc::Status Allocate(grpc::ServerContext* /*context*/, const v1beta1::AllocateRequest* request,
                        v1beta1::AllocateResponse* response) override {
    for (const auto& container : request->container_requests()) {
      std::string ids;
      for (const std::string& id : container.devices_ids()) ids += (ids.empty() ? "" : ",") + id;
      (*response->add_container_responses()->mutable_envs())["NVIDIA_VISIBLE_DEVICES"] = ids;
    }
    return grpc::Status::OK;
  }

  const std::string folder_;
  const std::string socket_;
  const std::string resource_;
  const std::vector<std::string> ids_;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
};

}  // namespace synergy::testing
