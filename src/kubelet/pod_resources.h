#pragma once

// Reads from the kubelet's pod resources API which devices its device plugins offer, and which pods
// have them. Keeps gRPC out of this header.
//
// A kubelet that has just started answers before it knows its pods. So for kLearns after its start,
// the owners that it listed before count as well.
//
// Threading: any thread. Failures: kUnavailable if the kubelet does not answer in time.

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
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
  static constexpr Duration kLearns = std::chrono::seconds(10);

  // `timeout`: how long a call waits for the kubelet.
  PodResources(std::string socket, const Clock& clock, Duration timeout = kTimeout);
  ~PodResources();

  // Returns the owners of all devices of the node. Queries the kubelet at most once a second; calls
  // in between return the last answer. Returns kUnavailable also if the kubelet has just started,
  // names no owner, and has not been asked before.
  Result<std::vector<DeviceOwner>> List();
  // Returns the healthy devices of the node, whether or not containers have them.
  Result<std::vector<KubeletDevice>> Allocatable();

 private:
  // REQUIRES: the mutex is held.
  const std::shared_ptr<grpc::Channel>& Connect();
  void SetDeadline(grpc::ClientContext& context) const;
  Result<std::vector<DeviceOwner>> Ask();
  // Returns the answer plus, while the kubelet may not know all pods, the former owners.
  Result<std::vector<DeviceOwner>> WithFormer(std::vector<DeviceOwner> owners);
  // Returns whether the kubelet has started less than kLearns ago.
  bool IsLearning();

  const std::string socket_;
  const Clock& clock_;
  const Duration timeout_;
  std::mutex mutex_;
  std::shared_ptr<grpc::Channel> channel_;
  Instant asked_{};
  Result<std::vector<DeviceOwner>> last_;
  std::optional<std::vector<DeviceOwner>> known_;  // of the last answer
  std::optional<WallTime> socket_made_;            // by the last known start of the kubelet
  Instant started_at_{};                           // at that start
};

}  // namespace synergy::kubelet
