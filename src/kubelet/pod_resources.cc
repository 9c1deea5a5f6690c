#include "kubelet/pod_resources.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <grpcpp/grpcpp.h>
#include <sys/stat.h>

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

// Returns when the file was made; nullopt if there is none.
std::optional<WallTime> MadeAt(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return WallTime(std::chrono::seconds(status.st_mtim.tv_sec) +
                  std::chrono::nanoseconds(status.st_mtim.tv_nsec));
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
  if (last_) last_ = WithFormer(*std::move(last_));
  return last_;
}

Result<std::vector<DeviceOwner>> PodResources::WithFormer(std::vector<DeviceOwner> owners) {
  if (IsLearning()) {
    if (!known_ && owners.empty())
      return Fail(ErrorCode::kUnavailable, "the kubelet has just started, and names no pods yet");
    const auto is_listed = [&owners](const DeviceOwner& before) {
      return std::any_of(owners.begin(), owners.end(), [&before](const DeviceOwner& owner) {
        return owner.resource == before.resource && owner.device == before.device;
      });
    };
    std::vector<DeviceOwner> before = known_.value_or(std::vector<DeviceOwner>());
    std::erase_if(before, is_listed);
    owners.insert(owners.end(), before.begin(), before.end());
  }
  known_ = owners;
  return owners;
}

bool PodResources::IsLearning() {
  // The kubelet makes its socket when it starts.
  const std::optional<WallTime> made = MadeAt(socket_);
  if (made && made != socket_made_) {
    // The first kubelet may have started long before this process; later ones start now.
    const Duration age = socket_made_ ? Duration::zero() : clock_.WallNow() - *made;
    started_at_ = clock_.Now() - std::clamp(age, Duration::zero(), kLearns);
    socket_made_ = made;
  }
  return clock_.Now() - started_at_ < kLearns;
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
