#include "deviceplugin/plugin/pod_resources.h"

#include <chrono>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "deviceplugin/protocol/pod_resources.grpc.pb.h"

namespace synergy::deviceplugin {
namespace {

constexpr std::chrono::milliseconds kTimeout{500};
constexpr Duration kFresh = std::chrono::seconds(1);
// A node has hundreds of pods, and an entry some hundred bytes.
constexpr int kLargestAnswer = 16 << 20;

}  // namespace

PodResources::PodResources(std::string socket, const Clock& clock)
    : socket_(std::move(socket)), clock_(clock) {}

PodResources::~PodResources() = default;

Result<std::vector<DeviceOwner>> PodResources::List() {
  const std::lock_guard lock(mutex_);
  if (asked_ != Instant{} && clock_.Now() - asked_ < kFresh) return last_;
  last_ = Ask();
  asked_ = clock_.Now();
  // Drop the channel: its backoff grows with each failed attempt to reach the kubelet.
  if (!last_) channel_.reset();
  return last_;
}

Result<std::vector<DeviceOwner>> PodResources::Ask() {
  if (!channel_) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(kLargestAnswer);
    channel_ =
        grpc::CreateCustomChannel("unix:" + socket_, grpc::InsecureChannelCredentials(), arguments);
  }
  const auto stub = v1::PodResourcesLister::NewStub(channel_);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kTimeout);
  v1::ListPodResourcesResponse answer;
  const grpc::Status status = stub->List(&context, {}, &answer);
  if (!status.ok()) return Fail(ErrorCode::kUnavailable, status.error_message());
  std::vector<DeviceOwner> owners;
  for (const v1::PodResources& pod : answer.pod_resources()) {
    for (const v1::ContainerResources& container : pod.containers()) {
      for (const v1::ContainerDevices& devices : container.devices()) {
        for (const std::string& id : devices.device_ids())
          owners.push_back(
              {devices.resource_name(), id, pod.namespace_(), pod.name(), container.name()});
      }
    }
  }
  return owners;
}

}  // namespace synergy::deviceplugin
