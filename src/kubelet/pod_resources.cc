#include "kubelet/pod_resources.h"

#include <chrono>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "kubelet/pod_resources.grpc.pb.h"

namespace synergy::kubelet {
namespace {

constexpr Duration kFresh = std::chrono::seconds(1);
// A node may have hundreds of pods, with a few hundred bytes per entry.
constexpr int kLargestAnswer = 16 << 20;

// A device that spans NUMA nodes counts as being on none.
int NumaNodeOf(const v1::ContainerDevices& devices) {
  const auto& nodes = devices.topology().nodes();
  return nodes.size() == 1 ? static_cast<int>(nodes[0].id()) : kNoNuma;
}

}  // namespace

PodResources::PodResources(std::string socket, const Clock& clock, Duration timeout)
    : socket_(std::move(socket)), clock_(clock), timeout_(timeout) {}

PodResources::~PodResources() = default;

Result<std::vector<DeviceOwner>> PodResources::List() {
  const std::lock_guard lock(mutex_);
  if (asked_ != Instant{} && clock_.Now() - asked_ < kFresh) return last_;
  last_ = Ask();
  asked_ = clock_.Now();
  return last_;
}

Result<std::vector<KubeletDevice>> PodResources::Allocatable() {
  const std::lock_guard lock(mutex_);
  const auto stub = v1::PodResourcesLister::NewStub(Connect());
  grpc::ClientContext context;
  SetDeadline(context);
  v1::AllocatableResourcesResponse answer;
  const grpc::Status status = stub->GetAllocatableResources(&context, {}, &answer);
  if (!status.ok()) {
    channel_.reset();
    return Fail(ErrorCode::kUnavailable, status.error_message());
  }
  std::vector<KubeletDevice> found;
  for (const v1::ContainerDevices& devices : answer.devices()) {
    for (const std::string& id : devices.device_ids())
      found.push_back({devices.resource_name(), id, NumaNodeOf(devices)});
  }
  return found;
}

const std::shared_ptr<grpc::Channel>& PodResources::Connect() {
  if (!channel_) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(kLargestAnswer);
    channel_ =
        grpc::CreateCustomChannel("unix:" + socket_, grpc::InsecureChannelCredentials(), arguments);
  }
  return channel_;
}

void PodResources::SetDeadline(grpc::ClientContext& context) const {
  context.set_deadline(std::chrono::system_clock::now() + timeout_);
}

Result<std::vector<DeviceOwner>> PodResources::Ask() {
  const auto stub = v1::PodResourcesLister::NewStub(Connect());
  grpc::ClientContext context;
  SetDeadline(context);
  v1::ListPodResourcesResponse answer;
  const grpc::Status status = stub->List(&context, {}, &answer);
  if (!status.ok()) {
    // Drop the channel, because its backoff grows with each failed attempt to reach the kubelet.
    channel_.reset();
    return Fail(ErrorCode::kUnavailable, status.error_message());
  }
  std::vector<DeviceOwner> owners;
  for (const v1::PodResources& pod : answer.pod_resources()) {
    for (const v1::ContainerResources& container : pod.containers()) {
      for (const v1::ContainerDevices& devices : container.devices()) {
        for (const std::string& id : devices.device_ids())
          owners.push_back({devices.resource_name(), id, pod.namespace_(), pod.name(),
                            container.name(), NumaNodeOf(devices)});
      }
    }
  }
  return owners;
}

}  // namespace synergy::kubelet
