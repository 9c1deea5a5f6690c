#pragma once

// Reads from the kubelet's pod resources API which devices its device plugins offer, and which pods
// have them. Keeps gRPC out of this header.
//
// Threading: any thread. Failures: kUnavailable if the kubelet does not answer in time.

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "inventory/kubelet_device.h"

namespace grpc {
class Channel;
class ClientContext;
}  // namespace grpc

namespace synergy::kubelet {

class PodResources {
 public:
  static constexpr Duration kTimeout = std::chrono::milliseconds(500);

  // `timeout`: how long a call waits for the kubelet.
  PodResources(std::string socket, const Clock& clock, Duration timeout = kTimeout);
  ~PodResources();

  // Returns the owners of all devices of the node. Queries the kubelet at most once a second; calls
  // in between return the last answer.
  Result<std::vector<DeviceOwner>> List();
  // Returns the healthy devices of the node, whether or not containers have them.
  Result<std::vector<KubeletDevice>> Allocatable();

 private:
  // REQUIRES: the mutex is held.
  const std::shared_ptr<grpc::Channel>& Connect();
  void SetDeadline(grpc::ClientContext& context) const;
  Result<std::vector<DeviceOwner>> Ask();

  const std::string socket_;
  const Clock& clock_;
  const Duration timeout_;
  std::mutex mutex_;
  std::shared_ptr<grpc::Channel> channel_;
  Instant asked_{};
  Result<std::vector<DeviceOwner>> last_;
};

}  // namespace synergy::kubelet
