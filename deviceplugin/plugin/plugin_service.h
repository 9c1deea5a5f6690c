#pragma once

// The device plugin service for one resource, which the kubelet calls.
//
// Threading: gRPC calls it from its own threads; no handler blocks. Any thread may call Publish,
// streams and EndStreams. Ownership: there is one service per gRPC server, and it must outlive the
// server. Failures: a call for devices that cannot be given returns NOT_FOUND (unknown),
// FAILED_PRECONDITION (unhealthy) or INVALID_ARGUMENT; the message names the device and the reason.
// A preference that cannot be given returns an empty answer, because on an error the kubelet would
// fail the pod.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "core/clock.h"
#include "core/log.h"
#include "deviceplugin/protocol/device_plugin.grpc.pb.h"
#include "inventory/advertisement.h"
#include "inventory/container_access.h"
#include "inventory/gpu.h"
#include "metrics/device_metrics.h"

namespace synergy::deviceplugin {

// The devices offered to the kubelet under one resource name. Immutable once shared.
struct Offer {
  std::shared_ptr<const GpuInventory> inventory;
  std::vector<GpuDevice> devices;
  ContainerAccessRules access;
};

class PluginService final : public v1beta1::DevicePlugin::CallbackService {
 public:
  // `on_streams` is called, on any thread, when a ListAndWatch stream begins or ends.
  PluginService(std::string resource, std::shared_ptr<const Offer> offer,
                std::function<void()> on_streams, const Clock& clock, Logger& log,
                metrics::DeviceMetrics& metrics);
  ~PluginService() override;

  // Sends the new list to open streams if it differs.
  void Publish(const std::shared_ptr<const Offer>& offer);
  // Returns the number of open streams.
  size_t streams() const;
  // Returns whether there has ever been a stream.
  bool had_streams() const;
  // Ends the streams in an orderly way; a server that shuts down waits until they have ended.
  void EndStreams();

  grpc::ServerUnaryReactor* GetDevicePluginOptions(grpc::CallbackServerContext* context,
                                                   const v1beta1::Empty* request,
                                                   v1beta1::DevicePluginOptions* response) override;
  grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse>* ListAndWatch(
      grpc::CallbackServerContext* context, const v1beta1::Empty* request) override;
  grpc::ServerUnaryReactor* GetPreferredAllocation(
      grpc::CallbackServerContext* context, const v1beta1::PreferredAllocationRequest* request,
      v1beta1::PreferredAllocationResponse* response) override;
  grpc::ServerUnaryReactor* Allocate(grpc::CallbackServerContext* context,
                                     const v1beta1::AllocateRequest* request,
                                     v1beta1::AllocateResponse* response) override;
  grpc::ServerUnaryReactor* PreStartContainer(
      grpc::CallbackServerContext* context, const v1beta1::PreStartContainerRequest* request,
      v1beta1::PreStartContainerResponse* response) override;

 private:
  class Stream;

  std::shared_ptr<const Offer> offer() const;
  void Forget(const Stream* stream);
  // Logs at most one line per second, because each of many requests may be refused.
  void LogRefusal(const Error& error);

  const std::string resource_;
  const std::function<void()> on_streams_;
  const Clock& clock_;
  Logger& log_;
  metrics::DeviceMetrics& metrics_;

  mutable std::mutex mutex_;
  std::shared_ptr<const Offer> offer_;
  bool ending_ = false;
  std::unordered_map<const Stream*, std::shared_ptr<Stream>> streams_;
  bool had_streams_ = false;
  Instant last_refusal_logged_{};
  uint64_t refusals_not_logged_ = 0;
};

}  // namespace synergy::deviceplugin
