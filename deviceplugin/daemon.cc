#include "deviceplugin/daemon.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/version.h"
#include "daemon/probes.h"
#include "deviceplugin/gauges.h"
#include "deviceplugin/node/busy_writer.h"
#include "deviceplugin/node/node_publisher.h"
#include "deviceplugin/plugin/advertiser_guard.h"
#include "deviceplugin/plugin/cdi_file.h"
#include "deviceplugin/plugin/kubelet_endpoint.h"
#include "deviceplugin/sources/file_source.h"
#include "deviceplugin/sources/inventory_monitor.h"
#include "deviceplugin/sources/nvml_api.h"
#include "deviceplugin/sources/nvml_source.h"
#include "http/server/server.h"
#include "kube/api_client.h"
#include "kube/apis/events.h"
#include "kube/apis/node_api.h"
#include "kube/token_gate.h"
#include "kubelet/pod_resources.h"
#include "metrics/device_metrics.h"
#include "wire/objects/gpu_inventory.h"

namespace synergy::deviceplugin {
namespace {

// An NVML call that takes longer counts as hung; only a restart of the process helps.
constexpr Duration kLookTimeout = std::chrono::seconds(60);
constexpr std::chrono::milliseconds kShutdownGrace{1000};
constexpr Duration kBusyInterval = std::chrono::seconds(1);
constexpr Duration kGuardInterval = std::chrono::seconds(1);
constexpr size_t kMostHttpConnections = 16;
constexpr size_t kLargestRequest = 64 << 10;

// Returns kNotFound if NVML is missing and wait_for_nvml is not set.
Result<std::unique_ptr<DeviceSource>> MakeSource(const config::DevicePluginConfig& config,
                                                 const Clock& clock) {
  const bool file = config.source == config::GpuSource::kFile ||
                    (config.source == config::GpuSource::kAuto && !config.inventory_file.empty());
  if (file) return std::make_unique<FileSource>(config.inventory_file);
  if (!config.wait_for_nvml) {
    const auto library = nvml::NvmlApi::Load(config.nvml_library);
    if (!library) return Fail(library.error());
  }
  NvmlOptions options;
  options.library = config.nvml_library;
  return std::make_unique<NvmlSource>(options, clock);
}

MonitorRules ToMonitorRules(const config::DevicePluginConfig& config) {
  return {config.advertisement, config.health, config.probe_interval};
}

AdvertiserGuardOptions ToGuardOptions(const config::DevicePluginConfig& config) {
  const std::string& folder = config.state_folder;
  return {config.plugin_folder, folder.empty() ? "" : folder + "/registrations.json",
          config.pod_uid};
}

bool NeedsRestart(const config::DevicePluginConfig& a, const config::DevicePluginConfig& b) {
  return a.source != b.source || a.inventory_file != b.inventory_file ||
         a.nvml_library != b.nvml_library || a.wait_for_nvml != b.wait_for_nvml ||
         a.plugin_folder != b.plugin_folder || a.pod_resources_socket != b.pod_resources_socket ||
         a.state_folder != b.state_folder || a.listen != b.listen ||
         a.metrics_authorization != b.metrics_authorization || a.gpu_busy_file != b.gpu_busy_file ||
         a.node_name != b.node_name || a.log_level != b.log_level || a.log_format != b.log_format ||
         a.cdi_folder != b.cdi_folder || a.cdi_command != b.cdi_command ||
         a.access.cdi_kind != b.access.cdi_kind || a.node_verify_interval != b.node_verify_interval;
}

class RunningDaemon final : public Daemon {
 public:
  RunningDaemon(const config::DevicePluginConfig& config, std::unique_ptr<DeviceSource> source,
                std::unique_ptr<kube::ApiClient> client, std::unique_ptr<http::Server> server,
                const Clock& clock, Logger& log)
      : config_(config),
        clock_(clock),
        log_(log),
        metrics_(config.node_name),
        client_(std::move(client)),
        server_(std::move(server)),
        pod_resources_(config.pod_resources_socket, clock),
        cdi_(config.cdi_folder, config.access.cdi_kind, config.cdi_command, clock, log),
        access_(config.access),
        node_api_(client_ ? kube::MakeNodeApi(*client_) : nullptr),
        guard_(ToGuardOptions(config), MakeGuardSources(), clock, log),
        busy_writer_(
            config.gpu_busy_file, [this] { return monitor_.ReadUse(); },
            [this] { return OwnersOfOurs(); }, clock, log),
        monitor_(std::move(source), ToMonitorRules(config),
                 {.on_change =
                      [this](const auto& /*picture*/) {
                        ReadHolders();
                        Publish();
                      },
                  .on_news = [this](const GpuNews& news) { Report(news); },
                  .on_look =
                      [this] {
                        WriteCdi();
                        if (ReadHolders()) Publish();
                      },
                  .on_xid = [this](const XidEvent& event) { busy_writer_.SeeXid(event); }},
                 clock, log, metrics_) {}

  ~RunningDaemon() override { Stop(); }

  Result<> Start() {
    metrics_.SetGauges([this] {
      metrics::DeviceGauges gauges =
          ReadGauges(monitor_, Registrations(), pod_resources_, NotReadyReason().empty());
      gauges.stopped = !guard_.stopped().empty();
      return gauges;
    });
    daemon::Probes probes;
    probes.dead = [this] { return DeadReason(); };
    probes.not_ready = [this] { return NotReadyReason(); };
    probes.metrics = [this] { return metrics_.Render(); };
    if (config_.metrics_authorization)
      probes.refuse_metrics = kube::GuardMetrics(*client_, clock_, log_);
    daemon::AddProbes(*server_, probes);
    auto probe_server = daemon::ServeProbes(config_.probe_socket, probes, log_);
    if (!probe_server) return Fail(probe_server.error());
    probe_server_ = *std::move(probe_server);
    if (client_) {
      events_ = kube::EventRecorder::Start(*client_, clock_, log_, "synergy-device-plugin",
                                           config_.node_name);
      publisher_ = std::make_unique<NodePublisher>(
          *node_api_,
          NodePublisherOptions{config_.node_name, config_.node_labels,
                               config_.node_verify_interval},
          clock_, log_, metrics_);
    }
    if (const Result<> started = server_->Start(); !started) return started;
    monitor_.Start();
    guarding_ = std::jthread([this](const std::stop_token& stop) {
      do {
        guard_.Step(stop);
        if (const std::string why = guard_.stopped(); !why.empty()) return StopOffering(why);
      } while (clock_.SleepFor(kGuardInterval, stop));
    });
    if (!config_.gpu_busy_file.empty()) {
      busy_writing_ = std::jthread([this](const std::stop_token& stop) {
        while (clock_.SleepFor(kBusyInterval, stop)) busy_writer_.Step();
      });
    }
    return {};
  }

  uint16_t port() const override { return server_->port(); }

  void Reload(const config::DevicePluginConfig& config) override {
    if (NeedsRestart(config_, config))
      log_.Warn(
          "some of the new configuration waits for a restart (docs/internals/device-plugin.md)");
    {
      const std::lock_guard lock(mutex_);
      access_ = config.access;
      // The CDI specification keeps the kind with which the plugin started.
      access_.cdi_kind = config_.access.cdi_kind;
    }
    if (publisher_) publisher_->SetLabels(config.node_labels);
    // Publish here, because the monitor sees no change if only the access rules differ.
    Publish();
    monitor_.SetRules(ToMonitorRules(config));
  }

  void Stop() override {
    if (std::exchange(stopped_, true)) return;
    for (std::jthread* const thread : {&guarding_, &busy_writing_}) {
      thread->request_stop();
      if (thread->joinable()) thread->join();
    }
    monitor_.Stop();
    server_->Stop(kShutdownGrace);
    probe_server_.reset();
    publisher_.reset();
    events_.reset();
    const std::lock_guard lock(mutex_);
    endpoints_.clear();
  }

 private:
  // Maps the id of a GPU or MIG device to the resources under which containers have it.
  using Holders = std::map<std::string, std::set<std::string>, std::less<>>;

  std::string DeadReason() const {
    const bool hangs = clock_.Now() - monitor_.last_look() > kLookTimeout + monitor_.pause();
    return hangs ? "looking at the GPUs hangs" : "";
  }

  // Publishes the latest picture. Both the monitor's thread and the owner call it.
  void Publish() {
    WriteCdi();
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const Picture> picture = monitor_.picture();
    if (!picture) return;
    if (guard_.stopped().empty()) PublishOffers(picture);
    if (publisher_) publisher_->Publish(std::move(picture));
  }

  // REQUIRES: the mutex is held.
  void PublishOffers(const std::shared_ptr<const Picture>& picture) {
    guard_.AddOwn(picture->advertisement.resources);
    size_t held = 0;
    const std::shared_ptr<const GpuInventory> inventory(picture, &picture->inventory);
    for (const auto& [resource, devices] : picture->advertisement.resources) {
      const Advertisement& all = picture->advertisement;
      ContainerAccessRules access = access_;
      access.one_slice_only |= IsInTurns(all, resource);
      auto offer = std::make_shared<const Offer>(
          Offer{inventory, MarkHeld(resource, all.replicas.contains(resource), devices, held),
                std::move(access)});
      std::unique_ptr<KubeletEndpoint>& endpoint = endpoints_[resource];
      if (endpoint) {
        endpoint->Publish(std::move(offer));
      } else {
        endpoint = std::make_unique<KubeletEndpoint>(
            config_.plugin_folder, resource, std::move(offer),
            RegistrationGate{[this](const std::string& name, const std::string& socket) {
                               return guard_.MayRegister(name, socket);
                             },
                             [this](const std::string& name) { guard_.OnRegistered(name); }},
            clock_, log_, metrics_);
      }
    }
    if (held == std::exchange(held_devices_, held)) return;
    if (held == 0) return log_.Info("no container has a GPU under a former resource any more");
    log_.Warn("containers have GPUs under another resource than they are offered",
              {{"devices_unhealthy", held}});
  }

  // Returns the devices. A device is unhealthy while a container still has its GPU under a resource
  // of an earlier configuration, because a GPU cannot be whole and shared at once. Adds the number
  // of such devices to `held`. Slices are also unhealthy until the containers' GPUs are known.
  // REQUIRES: the mutex is held.
  std::vector<GpuDevice> MarkHeld(const std::string& resource, bool sliced,
                                  std::vector<GpuDevice> devices, size_t& held) const {
    for (GpuDevice& device : devices) {
      if (!holders_) {
        if (sliced) device.health = {false, "it is not known yet whether a container has the GPU"};
        continue;
      }
      const auto holders = holders_->find(WithoutSlice(device.id));
      if (holders == holders_->end()) continue;
      const auto other = std::find_if(holders->second.begin(), holders->second.end(),
                                      [&](const std::string& name) { return name != resource; });
      if (other == holders->second.end()) continue;
      device.health = {false, fmt::format("a container still has the GPU as {}", *other)};
      ++held;
    }
    return devices;
  }

  // Reads under which resources containers have the GPUs. Returns whether that has changed.
  bool ReadHolders() {
    const Result<std::vector<DeviceOwner>> owners = pod_resources_.List();
    if (!owners) return false;
    Holders holders;
    for (const DeviceOwner& owner : *owners)
      holders[std::string(WithoutSlice(owner.device))].insert(owner.resource);
    const std::lock_guard lock(mutex_);
    if (holders_ == holders) return false;
    holders_ = std::move(holders);
    return true;
  }

  // Withdraws everything that is offered. Running pods keep their GPUs.
  void StopOffering(const std::string& why) {
    const std::string message = fmt::format(
        "{} is not offered by synergy-device-plugin, because another component of this node offers "
        "these GPUs: {}. Keep one of the two: devicePlugin.enabled=false, or a "
        "devicePlugin.affinity "
        "without this node; or remove the other one and then this plugin's pod",
        config_.advertisement.resource, why);
    log_.Error("offering no GPUs", {{"why", message}});
    if (events_) {
      events_->Record(
          kube::AboutNode(config_.node_name, "Warning", "SynergyDevicePluginStopped", message));
    }
    const std::lock_guard lock(mutex_);
    endpoints_.clear();
  }

  AdvertiserSources MakeGuardSources() {
    AdvertiserSources sources{[this] { return pod_resources_.Allocatable(); },
                              [this] { return pod_resources_.List(); },
                              {}};
    if (node_api_) {
      sources.slice_drivers = [this](const std::stop_token& stop) {
        return node_api_->ReadSliceDrivers(config_.node_name, stop);
      };
    }
    return sources;
  }

  bool GivesByCdi() const {
    const std::lock_guard lock(mutex_);
    return access_.kind == ContainerAccessKind::kCdi;
  }

  // Writes the CDI file of the latest picture if the picture has changed, if the file was removed
  // or overwritten, or if the command is due again. The command may take 20 s.
  void WriteCdi() {
    const std::lock_guard lock(cdi_mutex_);
    const std::shared_ptr<const Picture> picture = monitor_.picture();
    if (!picture || !GivesByCdi()) return;
    const Result<> written = cdi_.Write(picture->inventory);
    const std::string problem = written ? "" : written.error().message;
    if (problem != cdi_problem_ && !problem.empty())
      log_.Error("no CDI specification", {{"error", problem}});
    cdi_problem_ = problem;
  }

  // Records the event on the Node, where people look first.
  void Report(const GpuNews& news) {
    if (!events_) return;
    events_->Record(kube::AboutNode(config_.node_name, news.bad ? "Warning" : "Normal", news.reason,
                                    news.message));
  }

  Result<std::vector<DeviceOwner>> OwnersOfOurs() {
    Result<std::vector<DeviceOwner>> owners = pod_resources_.List();
    if (!owners) return owners;
    const std::map<std::string, bool> ours = Registrations();
    std::erase_if(*owners,
                  [&](const DeviceOwner& owner) { return !ours.contains(owner.resource); });
    return owners;
  }

  std::map<std::string, bool> Registrations() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, bool> registered;
    for (const auto& [resource, endpoint] : endpoints_)
      registered[resource] = endpoint->registered();
    return registered;
  }

  std::string NotReadyReason() const {
    if (const std::string why = guard_.stopped(); !why.empty())
      return "another component offers these GPUs: " + why;
    const std::shared_ptr<const Picture> picture = monitor_.picture();
    if (!picture) {
      std::string error = monitor_.source_error();
      return error.empty() ? "the GPUs have not been read yet" : error;
    }
    std::map<std::string, bool> registrations = Registrations();
    // A resource that was found a moment ago has no endpoint yet.
    for (const auto& [resource, devices] : picture->advertisement.resources)
      registrations.try_emplace(resource, false);
    for (const auto& [resource, registered] : registrations)
      if (!registered) return resource + " is not registered with the kubelet";
    return {};
  }

  const config::DevicePluginConfig config_;
  const Clock& clock_;
  Logger& log_;
  metrics::DeviceMetrics metrics_;
  std::unique_ptr<kube::ApiClient> client_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> probe_server_;  // null without --probe-socket
  kubelet::PodResources pod_resources_;

  std::mutex cdi_mutex_;  // guards the next two; locked before mutex_
  CdiFile cdi_;
  std::string cdi_problem_;
  mutable std::mutex mutex_;
  ContainerAccessRules access_;
  const std::unique_ptr<kube::NodeApi> node_api_;  // null without an API server
  AdvertiserGuard guard_;
  std::optional<Holders> holders_;  // nullopt: unknown so far
  size_t held_devices_ = 0;         // devices that are unhealthy because of the holders
  std::map<std::string, std::unique_ptr<KubeletEndpoint>> endpoints_;

  std::unique_ptr<NodePublisher> publisher_;
  std::unique_ptr<kube::EventRecorder> events_;
  BusyWriter busy_writer_;
  InventoryMonitor monitor_;
  std::jthread guarding_;
  std::jthread busy_writing_;
  bool stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::Start(const config::DevicePluginConfig& config,
                                              const std::optional<config::ClusterAccess>& access,
                                              const Clock& clock, Logger& log) {
  auto source = MakeSource(config, clock);
  if (!source) return Fail(source.error());
  std::unique_ptr<kube::ApiClient> client;
  if (!config.node_name.empty() && access) {
    auto created = kube::ApiClient::Create(*access, {.user_agent = "synergy-device-plugin"});
    if (!created) return Fail(created.error());
    client = *std::move(created);
  }
  if (config.metrics_authorization && client == nullptr) {
    return Fail(ErrorCode::kInvalid,
                "metricsAuthorization: needs node.name, because only then the plugin connects to "
                "the API server");
  }
  auto options = daemon::ListenOn(config.listen, log);
  if (!options) return Fail(options.error());
  options->self_signed = config.metrics_authorization;
  options->max_body_bytes = kLargestRequest;
  options->max_connections = kMostHttpConnections;
  auto server = http::Server::Create(*std::move(options));
  if (!server) return Fail(server.error());
  auto daemon = std::make_unique<RunningDaemon>(config, *std::move(source), std::move(client),
                                                *std::move(server), clock, log);
  if (const Result<> started = daemon->Start(); !started) return Fail(started.error());
  log.Info("serving", {{"listen", config.listen},
                       {"port", daemon->port()},
                       {"node", config.node_name},
                       {"version", Version()},
                       {"commit", Commit()}});
  return daemon;
}

Result<std::string> ReportOnce(const config::DevicePluginConfig& config) {
  const auto source = MakeSource(config, SystemClock());
  if (!source) return Fail(source.error());
  const Result<Reading> reading = (*source)->Read();
  if (!reading) return Fail(reading.error());
  GpuHealthJudge judge(config.health);
  for (const auto& [uuid, probe] : reading->probes) judge.SeeProbe(uuid, probe, Instant{});
  const auto health = [&](std::string_view uuid) { return judge.Judge(uuid, Instant{}); };
  return wire::WriteGpuReport(reading->inventory,
                              Advertise(reading->inventory, config.advertisement, health),
                              reading->unreachable);
}

}  // namespace synergy::deviceplugin
