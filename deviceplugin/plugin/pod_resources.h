#pragma once

// Reads from the kubelet's pod resources API which pod has which device.
//
// Threading: from any thread. Queries the kubelet at most once a second; callers in between get the
// last answer.
// Failures: kUnavailable if the kubelet does not answer within half a second.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"

namespace grpc {
class Channel;
}

namespace synergy::deviceplugin {

struct DeviceOwner {
  std::string resource;
  std::string device;
  std::string pod_namespace;
  std::string pod;
  std::string container;
};

class PodResources {
 public:
  PodResources(std::string socket, const Clock& clock);
  ~PodResources();

  // Returns the owners of all resources of the node.
  Result<std::vector<DeviceOwner>> List();

 private:
  Result<std::vector<DeviceOwner>> Ask();

  const std::string socket_;
  const Clock& clock_;
  std::mutex mutex_;
  std::shared_ptr<grpc::Channel> channel_;
  Instant asked_{};
  Result<std::vector<DeviceOwner>> last_;
};

}  // namespace synergy::deviceplugin
