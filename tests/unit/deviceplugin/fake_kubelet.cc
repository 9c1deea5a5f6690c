#include "unit/deviceplugin/fake_kubelet.h"

#include <chrono>
#include <filesystem>
#include <utility>

namespace synergy::testing {

class FakeKubelet::RegistrationService final : public v1beta1::Registration::Service {
 public:
  explicit RegistrationService(FakeKubelet& kubelet) : kubelet_(kubelet) {}
  grpc::Status Register(grpc::ServerContext* /*context*/, const v1beta1::RegisterRequest* request,
                        v1beta1::Empty* /*response*/) override {
    return kubelet_.Register(*request);
  }

 private:
  FakeKubelet& kubelet_;
};

FakeKubelet::FakeKubelet(std::string folder, bool started)
    : folder_(std::move(folder)), service_(std::make_unique<RegistrationService>(*this)) {
  if (started) Start();
}

FakeKubelet::~FakeKubelet() { Stop(); }

void FakeKubelet::Start() {
  std::filesystem::create_directories(folder_);
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    std::filesystem::remove(entry.path());
  service_ = std::make_unique<RegistrationService>(*this);
  endpoints_.clear();
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + folder_ + "/kubelet.sock", grpc::InsecureServerCredentials());
  builder.RegisterService(service_.get());
  server_ = builder.BuildAndStart();
}

void FakeKubelet::Stop(bool killed) {
  if (!server_) return;
  // gRPC removes its socket. A killed process leaves it behind.
  const std::string socket = folder_ + "/kubelet.sock";
  if (killed) std::filesystem::rename(socket, socket + ".kept");
  server_->Shutdown(std::chrono::system_clock::now());
  server_.reset();
  if (killed) std::filesystem::rename(socket + ".kept", socket);
  BreakStreams();
}

void FakeKubelet::BreakStreams() {
  HoldStreams(false);
  std::list<Plugin> plugins;
  {
    const std::lock_guard lock(mutex_);
    plugins.swap(plugins_);
  }
  for (Plugin& plugin : plugins) {
    plugin.context->TryCancel();
    plugin.listening.join();
  }
}

void FakeKubelet::Refuse(bool refuse) {
  const std::lock_guard lock(mutex_);
  refusing_ = refuse;
}

void FakeKubelet::AnswerLate() {
  const std::lock_guard lock(mutex_);
  late_ = true;
}

void FakeKubelet::HoldStreams(bool hold) {
  const std::lock_guard lock(mutex_);
  holding_ = hold;
  changed_.notify_all();
}

grpc::Status FakeKubelet::Register(const v1beta1::RegisterRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    // Kubelets from 1.37 on may behave so until they are restarted.
    const bool known = !endpoints_.insert(request.endpoint()).second;
    if (refusing_ || known) {
      ++refusals_;
      changed_.notify_all();
      return {grpc::StatusCode::UNKNOWN, "device plugin already connected: " + request.endpoint()};
    }
  }
  if (request.version() != "v1beta1") return {grpc::StatusCode::UNKNOWN, "another version"};
  // This happens before the answer, as in the real kubelet: it fails for a plugin that registers
  // before it serves.
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  auto stub = v1beta1::DevicePlugin::NewStub(grpc::CreateCustomChannel(
      "unix:" + folder_ + "/" + request.endpoint(), grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  v1beta1::DevicePluginOptions options;
  const grpc::Status status = stub->GetDevicePluginOptions(&context, {}, &options);
  if (!status.ok()) return {grpc::StatusCode::UNKNOWN, "cannot dial: " + status.error_message()};
  const std::lock_guard lock(mutex_);
  Plugin& plugin = plugins_.emplace_back();
  plugin.resource = request.resource_name();
  plugin.stub = std::move(stub);
  plugin.context = std::make_unique<grpc::ClientContext>();
  plugin.listening = std::thread([this, &plugin] { Listen(plugin); });
  ++registrations_;
  changed_.notify_all();
  // The plugin's client has this status when it gives up.
  if (std::exchange(late_, false)) return {grpc::StatusCode::DEADLINE_EXCEEDED, "late"};
  return grpc::Status::OK;
}

void FakeKubelet::Listen(Plugin& plugin) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !holding_; });
  }
  const auto reader = plugin.stub->ListAndWatch(plugin.context.get(), {});
  v1beta1::ListAndWatchResponse list;
  while (reader->Read(&list)) {
    const std::lock_guard lock(mutex_);
    ++lists_;
    DeviceHealth& devices = devices_[plugin.resource];
    devices.clear();
    for (const v1beta1::Device& device : list.devices()) {
      devices[device.id()] = device.health();
      if (device.has_topology()) numa_nodes_[device.id()] = device.topology().nodes(0).id();
    }
    changed_.notify_all();
  }
  reader->Finish();
  const std::lock_guard lock(mutex_);
  plugin.is_live = false;
}

size_t FakeKubelet::registrations() const {
  const std::lock_guard lock(mutex_);
  return registrations_;
}

size_t FakeKubelet::lists() const {
  const std::lock_guard lock(mutex_);
  return lists_;
}

FakeKubelet::DeviceHealth FakeKubelet::devices(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  const auto found = devices_.find(resource);
  return found == devices_.end() ? DeviceHealth() : found->second;
}

std::map<std::string, int64_t> FakeKubelet::numa_nodes() const {
  const std::lock_guard lock(mutex_);
  return numa_nodes_;
}

std::vector<KubeletDevice> FakeKubelet::Allocatable() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> live;
  for (const Plugin& plugin : plugins_)
    if (plugin.is_live) live.insert(plugin.resource);
  std::vector<KubeletDevice> found;
  for (const auto& [resource, devices] : devices_) {
    for (const auto& [id, health] : devices)
      if (live.contains(resource) && health == "Healthy") found.push_back({resource, id});
  }
  return found;
}

bool FakeKubelet::Await(const std::function<bool()>& reached) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::minutes(2), reached);
}

bool FakeKubelet::AwaitRegistrations(size_t count) const {
  return Await([&] { return registrations_ >= count; });
}

bool FakeKubelet::AwaitRefusals(size_t count) const {
  return Await([&] { return refusals_ >= count; });
}

bool FakeKubelet::AwaitLists(size_t count) const {
  return Await([&] { return lists_ >= count; });
}

bool FakeKubelet::AwaitDevices(const DeviceHealth& devices, const std::string& resource) const {
  return Await([&] {
    const auto found = devices_.find(resource);
    return found != devices_.end() && found->second == devices;
  });
}

v1beta1::DevicePlugin::Stub* FakeKubelet::StubOf(const std::string& resource) {
  const std::lock_guard lock(mutex_);
  v1beta1::DevicePlugin::Stub* last = nullptr;
  for (Plugin& plugin : plugins_)
    if (plugin.resource == resource) last = plugin.stub.get();
  return last;
}

grpc::Status FakeKubelet::Allocate(const std::vector<std::string>& ids,
                                   v1beta1::AllocateResponse* response,
                                   const std::string& resource) {
  v1beta1::DevicePlugin::Stub* stub = StubOf(resource);
  if (stub == nullptr) return {grpc::StatusCode::UNAVAILABLE, "not registered"};
  v1beta1::AllocateRequest request;
  v1beta1::ContainerAllocateRequest* container = request.add_container_requests();
  for (const std::string& id : ids) container->add_devices_ids(id);
  grpc::ClientContext context;
  return stub->Allocate(&context, request, response);
}

grpc::Status FakeKubelet::Prefer(const std::vector<std::string>& available, int size,
                                 std::vector<std::string>* chosen) {
  v1beta1::PreferredAllocationRequest request;
  auto* container = request.add_container_requests();
  for (const std::string& id : available) container->add_available_deviceids(id);
  container->set_allocation_size(size);
  grpc::ClientContext context;
  v1beta1::PreferredAllocationResponse response;
  const grpc::Status status =
      StubOf("nvidia.com/gpu")->GetPreferredAllocation(&context, request, &response);
  if (status.ok()) {
    const auto& ids = response.container_responses(0).deviceids();
    chosen->assign(ids.begin(), ids.end());
  }
  return status;
}

}  // namespace synergy::testing
