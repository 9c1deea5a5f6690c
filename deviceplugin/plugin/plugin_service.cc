#include "deviceplugin/plugin/plugin_service.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "inventory/preference.h"

namespace synergy::deviceplugin {
namespace {

constexpr Duration kBetweenRefusalLines = std::chrono::seconds(1);

v1beta1::ListAndWatchResponse ToList(const Offer& offer) {
  v1beta1::ListAndWatchResponse list;
  for (const GpuDevice& device : offer.devices) {
    v1beta1::Device* entry = list.add_devices();
    entry->set_id(device.id);
    entry->set_health(device.health.healthy ? "Healthy" : "Unhealthy");
    if (device.numa_node != kNoNuma)
      entry->mutable_topology()->add_nodes()->set_id(device.numa_node);
  }
  return list;
}

// Ignores reasons, which the kubelet does not receive.
bool HaveSameList(const Offer& a, const Offer& b) {
  return std::equal(a.devices.begin(), a.devices.end(), b.devices.begin(), b.devices.end(),
                    [](const GpuDevice& x, const GpuDevice& y) {
                      return x.id == y.id && x.numa_node == y.numa_node &&
                             x.health.healthy == y.health.healthy;
                    });
}

grpc::Status ToStatus(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      return {grpc::StatusCode::NOT_FOUND, error.message};
    case ErrorCode::kUnavailable:
      return {grpc::StatusCode::FAILED_PRECONDITION, error.message};
    default:
      return {grpc::StatusCode::INVALID_ARGUMENT, error.message};
  }
}

std::string_view OutcomeOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      return "unknown_device";
    case ErrorCode::kUnavailable:
      return "unhealthy_device";
    default:
      return "invalid";
  }
}

void Fill(const ContainerAccess& access, v1beta1::ContainerAllocateResponse& response) {
  for (const auto& [name, value] : access.environment) (*response.mutable_envs())[name] = value;
  for (const std::string& path : access.device_nodes) {
    v1beta1::DeviceSpec* device = response.add_devices();
    device->set_host_path(path);
    device->set_container_path(path);
    device->set_permissions("rw");
  }
  for (const std::string& name : access.cdi_names) response.add_cdi_devices()->set_name(name);
}

template <class Ids>
std::vector<std::string> ToVector(const Ids& ids) {
  return {ids.begin(), ids.end()};
}

grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, const grpc::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

}  // namespace

// A ListAndWatch call. At most one list is being sent; of the lists published meanwhile, only the
// last one follows. gRPC is never called with the mutex held, because it may call back at once.
class PluginService::Stream final : public grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse> {
 public:
  explicit Stream(PluginService& service) : service_(service) {}

  void Send(const Offer& offer) {
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
      next_ = ToList(offer);
    }
    WriteOrFinish();
  }

  void End() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    WriteOrFinish();
  }

  void OnWriteDone(bool ok) override {
    {
      const std::lock_guard lock(mutex_);
      writing_ = false;
      if (!ok) ending_ = true;
    }
    WriteOrFinish();
  }

  void OnCancel() override { End(); }
  void OnDone() override { service_.Forget(this); }

 private:
  void WriteOrFinish() {
    bool finish = false;
    {
      const std::lock_guard lock(mutex_);
      if (writing_ || finished_) return;
      if (ending_) {
        finish = finished_ = true;
      } else if (next_) {
        current_ = std::move(*next_);
        next_.reset();
        writing_ = true;
      } else {
        return;
      }
    }
    if (finish) {
      Finish(grpc::Status::OK);
    } else {
      service_.metrics_.CountListSent(service_.resource_);
      StartWrite(&current_);
    }
  }

  PluginService& service_;
  std::mutex mutex_;
  std::optional<v1beta1::ListAndWatchResponse> next_;
  v1beta1::ListAndWatchResponse current_;
  bool writing_ = false;
  bool ending_ = false;
  bool finished_ = false;
};

PluginService::PluginService(std::string resource, std::shared_ptr<const Offer> offer,
                             std::function<void()> on_streams, const Clock& clock, Logger& log,
                             metrics::DeviceMetrics& metrics)
    : resource_(std::move(resource)),
      on_streams_(std::move(on_streams)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      offer_(std::move(offer)) {}

PluginService::~PluginService() = default;

void PluginService::Publish(const std::shared_ptr<const Offer>& offer) {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard lock(mutex_);
    const bool same = HaveSameList(*offer_, *offer);
    offer_ = offer;
    if (same) return;
    for (const auto& [key, stream] : streams_) streams.push_back(stream);
  }
  for (const std::shared_ptr<Stream>& stream : streams) stream->Send(*offer);
}

size_t PluginService::streams() const {
  const std::lock_guard lock(mutex_);
  return streams_.size();
}

bool PluginService::had_streams() const {
  const std::lock_guard lock(mutex_);
  return had_streams_;
}

void PluginService::EndStreams() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (const auto& [key, stream] : streams_) streams.push_back(stream);
  }
  for (const std::shared_ptr<Stream>& stream : streams) stream->End();
}

std::shared_ptr<const Offer> PluginService::offer() const {
  const std::lock_guard lock(mutex_);
  return offer_;
}

void PluginService::Forget(const Stream* stream) {
  std::shared_ptr<Stream> last;
  {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(stream);
    last = std::move(found->second);
    streams_.erase(found);
  }
  on_streams_();
}

grpc::ServerUnaryReactor* PluginService::GetDevicePluginOptions(
    grpc::CallbackServerContext* context, const v1beta1::Empty* /*request*/,
    v1beta1::DevicePluginOptions* response) {
  response->set_get_preferred_allocation_available(true);
  return Answer(context, grpc::Status::OK);
}

grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse>* PluginService::ListAndWatch(
    grpc::CallbackServerContext* /*context*/, const v1beta1::Empty* /*request*/) {
  const auto stream = std::make_shared<Stream>(*this);
  std::shared_ptr<const Offer> first;
  {
    const std::lock_guard lock(mutex_);
    streams_[stream.get()] = stream;
    had_streams_ = true;
    if (!ending_) first = offer_;
  }
  if (first) {
    stream->Send(*first);
  } else {
    stream->End();
  }
  on_streams_();
  return stream.get();
}

grpc::ServerUnaryReactor* PluginService::GetPreferredAllocation(
    grpc::CallbackServerContext* context, const v1beta1::PreferredAllocationRequest* request,
    v1beta1::PreferredAllocationResponse* response) {
  const Instant start = clock_.Now();
  const std::shared_ptr<const Offer> now = offer();
  std::string_view outcome = "ok";
  for (const auto& container : request->container_requests()) {
    const auto size = static_cast<size_t>(std::max(container.allocation_size(), 0));
    const Result<std::vector<std::string>> ids =
        PreferDevices(*now->inventory, now->devices, ToVector(container.available_deviceids()),
                      ToVector(container.must_include_deviceids()), size);
    auto* answer = response->add_container_responses();
    if (!ids) {
      outcome = "invalid";
      LogRefusal(ids.error());
      continue;
    }
    for (const std::string& id : *ids) answer->add_deviceids(id);
  }
  metrics_.CountPreferred(resource_, outcome, clock_.Now() - start);
  return Answer(context, grpc::Status::OK);
}

grpc::ServerUnaryReactor* PluginService::Allocate(grpc::CallbackServerContext* context,
                                                  const v1beta1::AllocateRequest* request,
                                                  v1beta1::AllocateResponse* response) {
  const Instant start = clock_.Now();
  const std::shared_ptr<const Offer> now = offer();
  for (const auto& container : request->container_requests()) {
    const Result<ContainerAccess> access =
        GrantAccess(*now->inventory, now->devices, ToVector(container.devices_ids()), now->access);
    if (!access) {
      metrics_.CountAllocate(resource_, OutcomeOf(access.error()), clock_.Now() - start);
      LogRefusal(access.error());
      return Answer(context,
                    ToStatus({access.error().code, resource_ + ": " + access.error().message}));
    }
    Fill(*access, *response->add_container_responses());
    log_.Debug("devices given", {{"resource", resource_}, {"count", container.devices_ids_size()}});
  }
  metrics_.CountAllocate(resource_, "ok", clock_.Now() - start);
  return Answer(context, grpc::Status::OK);
}

grpc::ServerUnaryReactor* PluginService::PreStartContainer(
    grpc::CallbackServerContext* context, const v1beta1::PreStartContainerRequest* /*request*/,
    v1beta1::PreStartContainerResponse* /*response*/) {
  return Answer(context, grpc::Status::OK);
}

void PluginService::LogRefusal(const Error& error) {
  uint64_t before = 0;
  {
    const std::lock_guard lock(mutex_);
    const Instant now = clock_.Now();
    if (last_refusal_logged_ != Instant{} && now - last_refusal_logged_ < kBetweenRefusalLines) {
      ++refusals_not_logged_;
      return;
    }
    last_refusal_logged_ = now;
    before = std::exchange(refusals_not_logged_, 0);
  }
  log_.Warn("refused", {{"resource", resource_}, {"error", error.message}, {"before", before}});
}

}  // namespace synergy::deviceplugin
