#include "nodeagent/daemon.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/state/pod_acts.h"
#include "core/gpu_amount.h"
#include "core/version.h"
#include "daemon/probes.h"
#include "http/server/server.h"
#include "kube/api_client.h"
#include "kube/apis/events.h"
#include "kube/listing.h"
#include "kube/reflector.h"
#include "kube/token_gate.h"
#include "kube/watches.h"
#include "kubelet/pod_resources.h"
#include "metrics/node_agent_metrics.h"
#include "nodeagent/cgroups/busy_time.h"
#include "nodeagent/cgroups/cgroup_files.h"
#include "nodeagent/cgroups/cpu_groups.h"
#include "nodeagent/cgroups/node_pods.h"
#include "nodeagent/cgroups/storage/storage_divider.h"
#include "nodeagent/cgroups/storage/storage_keeper.h"
#include "nodeagent/devices/device_allow.h"
#include "nodeagent/devices/device_keeper.h"
#include "nodeagent/devices/gpu_busy_file.h"
#include "nodeagent/gpus/gpu_facts.h"
#include "nodeagent/gpus/gpu_owners.h"
#include "nodeagent/gpus/xid_keeper.h"
#include "nodeagent/guarded/cpu_quota.h"
#include "nodeagent/guarded/freezer.h"
#include "nodeagent/guarded/prober.h"
#include "nodeagent/guarded/turn_follower.h"
#include "nodeagent/memory/cache_keeper.h"
#include "nodeagent/memory/data_use.h"
#include "nodeagent/memory/memory_groups.h"
#include "nodeagent/memory/memory_use.h"
#include "nodeagent/memory/shrinker.h"
#include "nodeagent/progress/failure_reader.h"
#include "nodeagent/progress/metrics_page.h"
#include "nodeagent/progress/progress_keeper.h"
#include "nodeagent/progress/progress_server.h"
#include "nodeagent/reading_writer.h"
#include "wire/objects/objects.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {
namespace {

constexpr Duration kLogInterval = std::chrono::seconds(1);
constexpr Duration kCounterInterval = std::chrono::seconds(10);

kube::ReflectorOptions WatchOf(const config::NodeAgentConfig& config, const Clock& clock) {
  // Watch only the pods of one node, whatever the size of the cluster.
  return kube::WatchWithin(config.staleness_limit, "/api/v1/pods",
                           fmt::format("spec.nodeName={},{}", config.node_name, kube::kLivingPods),
                           static_cast<uint64_t>(clock.WallNow().time_since_epoch().count()));
}

Result<NodeMemory> ReadNodeMemory() {
  const Result<std::string> text = ReadCgroupFile("/proc/meminfo");
  if (!text) return Fail(text.error());
  return ParseNodeMemory(*text);
}

ExporterRules ToExporterRules(const config::NodeAgentConfig::Dcgm& config) {
  return {config.namespaces, config.daemon_set, static_cast<uint16_t>(config.port), config.path};
}

// Forwards the watch's reports to several stores.
class AllStores final : public kube::ObjectStore<wire::ResizeStatus> {
 public:
  using Store = kube::ObjectStore<wire::ResizeStatus>;
  // The first store answers Last(). The stores must outlive this object.
  explicit AllStores(std::vector<Store*> stores) : stores_(std::move(stores)) {}

  void Replace(std::vector<wire::ResizeStatus> all) override {
    for (Store* const store : stores_) store->Replace(all);
  }
  void Upsert(wire::ResizeStatus pod) override {
    for (Store* const store : stores_) store->Upsert(pod);
  }
  void Remove(const wire::ResizeStatus& pod) override {
    for (Store* const store : stores_) store->Remove(pod);
  }
  std::optional<wire::ResizeStatus> Last(const wire::ResizeStatus& pod) const override {
    return stores_.front()->Last(pod);
  }

 private:
  const std::vector<Store*> stores_;
};

class RunningDaemon final : public Daemon {
 public:
  RunningDaemon(const config::NodeAgentConfig& config, std::unique_ptr<kube::ApiClient> client,
                std::unique_ptr<http::Server> server, std::unique_ptr<MemoryGroups> groups,
                std::unique_ptr<CpuGroups> cpu_groups, std::unique_ptr<CpuQuotas> cpu_quotas,
                std::unique_ptr<Freezers> freezers, TemporaryWriter& writer, const Clock& clock,
                Logger& log)
      : config_(config),
        clock_(clock),
        client_(std::move(client)),
        server_(std::move(server)),
        groups_(std::move(groups)),
        cpu_groups_(std::move(cpu_groups)),
        cpu_quotas_(std::move(cpu_quotas)),
        freezers_(std::move(freezers)),
        events_(kube::EventRecorder::Start(*client_, clock, log, "synergy-node-agent",
                                           config.node_name)),
        shrinker_(*groups_, *events_, clock, log, metrics_,
                  {{config.margin_percent, config.margin_most}, config.give_up_after}),
        writer_(*client_, clock, log, metrics_),
        keeper_(node_pods_, *groups_, ReadNodeMemory, writer_, acts_, clock, log, metrics_,
                {.eviction_threshold = config.eviction_threshold}),
        data_(*groups_, MemoryHierarchy(config.cgroup_folder), config.kubelet_cgroup_root, "/proc"),
        progress_(node_pods_,
                  {*cpu_groups_, data_, config.pod_log_folder, config.pods_folder, ReadPage,
                   [this] { return ReadBusy(); }, ProgressSources::UsedByThisThread,
                   [this](const std::string& uid) { return turns_.TimeSuspended(uid); }},
                  clock, log, *events_, metrics_),
        divider_(node_pods_, CgroupFolders(config.cgroup_folder, config.kubelet_cgroup_root),
                 BlockDevices(KernelFolders().sys),
                 {[&writer](const std::string& file, const std::string& text, Duration longest) {
                    return writer.Begin(file, text, longest);
                  },
                  [&writer](const std::string& file) { return writer.End(file); }},
                 clock, log, *events_, metrics_),
        storage_(node_pods_, {.cgroup = config.cgroup_folder}, config.kubelet_cgroup_root,
                 config.divide_storage ? &divider_ : nullptr, clock, log, metrics_),
        pod_resources_(config.pod_resources_socket, clock),
        gpus_(node_pods_, ToExporterRules(config.dcgm),
              {ReadPage, [this] { return pod_resources_.List(); },
               [this] { return pod_resources_.Allocatable(); }},
              config.gpu_resource, config.node_name, clock, log, metrics_),
        xids_(clock),
        device_groups_(FindDeviceGroups(config.cgroup_folder, config.kubelet_cgroup_root,
                                        config.transient_unit_folder, config.gpu_resource)),
        devices_(node_pods_, *device_groups_, writer_, clock, log),
        prober_(node_pods_, *cpu_quotas_, writer, acts_, clock, log, *events_, metrics_),
        turns_(node_pods_,
               {freezers_.get(), [this] { return ProbedPods(); },
                [this] { return pod_resources_.List(); }},
               writer, acts_, TurnsResource(config.gpu_resource), config.turns, clock, log,
               metrics_),
        failures_(config.pod_log_folder, ProgressSources::UsedByThisThread, acts_, clock),
        stores_({&shrinker_, &node_pods_, &failures_, &xids_}),
        log_(log) {}

  ~RunningDaemon() override { Stop(); }

  Result<> Start() {
    pods_ = kube::Reflector::Start(
        *client_,
        wire::ObjectReader(config_.gpu_resource, {.scheduler_name = config_.scheduler_name}),
        stores_, clock_, log_, WatchOf(config_, clock_));
    health_ = std::make_unique<kube::Health>(
        std::vector<kube::WatchedResource>{{"pods", [this] { return pods_->status(); }}}, clock_,
        config_.staleness_limit);
    metrics_.SetGauges([this] { return ReadGauges(); });
    daemon::Probes probes;
    probes.not_ready = [this] { return health_->NotReadyReason(); };
    probes.metrics = [this] { return metrics_.Render(); };
    if (config_.metrics_authorization)
      probes.refuse_metrics = kube::GuardMetrics(*client_, clock_, log_);
    daemon::AddProbes(*server_, probes);
    auto probe_server = daemon::ServeProbes(config_.probe_socket, probes, log_);
    if (!probe_server) return Fail(probe_server.error());
    probe_server_ = *std::move(probe_server);
    shrinking_ = std::jthread([this](const std::stop_token& stop) {
      while (shrinker_.AwaitWork(stop)) {
        shrinker_.Step(stop);
        if (!clock_.SleepFor(config_.check_interval, stop)) return;
      }
    });
    if (config_.keep_cache) {
      keeping_ = std::jthread([this](const std::stop_token& stop) {
        while (clock_.SleepFor(keeper_.Step(stop), stop)) {
        }
      });
    }
    looking_at_devices_ = std::jthread([this](const std::stop_token& stop) {
      while (clock_.SleepFor(devices_.Step(), stop)) {
      }
    });
    if (!config_.pod_resources_socket.empty()) {
      looking_at_gpus_ = std::jthread([this](const std::stop_token& stop) {
        do {
          if (!ReadOwnPluginsBusy()) gpus_.Step(stop);
          ObserveXids();
          turns_.LookAtGpus();
          NoteSharers();
        } while (clock_.SleepFor(GpuFacts::kInterval, stop));
      });
    }
    following_turns_ = std::jthread([this](const std::stop_token& stop) {
      while (clock_.SleepFor(turns_.Step(), stop)) {
      }
    });
    if (config_.measure_progress) {
      following_ = std::jthread([this](const std::stop_token& stop) {
        while (clock_.SleepFor(kLogInterval, stop)) {
          progress_.FollowLogs();
          progress_.ReadFiles();
        }
      });
      counting_ = std::jthread([this](const std::stop_token& stop) {
        while (clock_.SleepFor(kCounterInterval, stop)) progress_.ReadCounters(stop);
      });
      measuring_storage_ = std::jthread([this](const std::stop_token& stop) {
        do {
          storage_.Look();
        } while (clock_.SleepFor(StorageKeeper::kInterval, stop));
      });
      reading_failures_ = std::jthread([this](const std::stop_token& stop) {
        while (clock_.SleepFor(failures_.Step(), stop)) {
        }
      });
      // Probes slow pods down, so there are none unless progress is measured.
      probing_ = std::jthread([this](const std::stop_token& stop) {
        while (clock_.SleepFor(prober_.Step(), stop)) {
        }
      });
    }
    if (!config_.progress_listen.empty()) {
      auto started = ProgressServer::Start(
          config_, [this] { return ReadAll(); }, [this] { turns_.Renew(); }, log_);
      if (!started) return Fail(started.error());
      progress_server_ = *std::move(started);
    }
    return server_->Start();
  }

  uint16_t port() const override { return server_->port(); }

  void Stop() override {
    if (std::exchange(stopped_, true)) return;
    for (std::jthread* const thread :
         {&shrinking_, &keeping_, &looking_at_devices_, &looking_at_gpus_, &following_turns_,
          &following_, &counting_, &measuring_storage_, &reading_failures_, &probing_}) {
      thread->request_stop();
      if (thread->joinable()) thread->join();
    }
    progress_server_.reset();
    server_->Stop(config_.shutdown_grace);
    probe_server_.reset();
    pods_.reset();
  }

 private:
  metrics::NodeAgentGauges ReadGauges() const {
    const kube::ReflectorStatus status = pods_->status();
    metrics::NodeAgentGauges gauges;
    gauges.watched_pods = shrinker_.watched_pods();
    gauges.shrinks_in_progress = shrinker_.in_progress();
    gauges.kept_pods = keeper_.kept_pods();
    gauges.node_short = keeper_.node_short();
    for (const PodProgress& pod : ReadProgress().pods) {
      if (pod.estimate) {
        gauges.busy.push_back({pod.pod_namespace, pod.name, pod.container, pod.estimate->busy});
      }
      if (pod.format.empty()) continue;
      std::optional<double> done;
      if (pod.iteration && pod.total && *pod.total > 0)
        done = static_cast<double>(*pod.iteration) / static_cast<double>(*pod.total);
      metrics::PodProgressGauge& gauge = gauges.progress.emplace_back(
          metrics::PodProgressGauge{pod.pod_namespace, pod.name, pod.container, pod.format,
                                    pod.iterations, pod.rate, pod.remaining, done});
      if (pod.memory) {
        gauge.memory = {pod.memory->process, pod.memory->cache, pod.memory->read,
                        pod.memory->fetched, pod.memory->starved};
      }
    }
    gauges.storage = storage_.Gauges();
    if (!ReadOwnPluginsBusy()) gauges.gpus = gpus_.Gauges();
    gauges.dropped_events = events_->dropped();
    gauges.synced = status.synced;
    gauges.staleness = status.synced ? clock_.Now() - status.last_contact : Duration::zero();
    gauges.watch_errors = status.errors;
    gauges.ready = health_->NotReadyReason().empty();
    return gauges;
  }

  // The device plugin's own report takes precedence, because the plugin sees the GPUs every second.
  Result<NodeBusy> ReadBusy() const {
    Result<NodeBusy> own = ReadOwnPluginsBusy();
    if (own || own.error().code != ErrorCode::kNotFound) return own;
    return gpus_.Busy();
  }

  // Returns kNotFound if Synergy's device plugin does not run on this node, or no longer does.
  Result<NodeBusy> ReadOwnPluginsBusy() const {
    if (config_.gpu_busy_file.empty())
      return Fail(ErrorCode::kNotFound, "no device plugin of Synergy's");
    Result<NodeBusy> own = ReadGpuBusyFile(config_.gpu_busy_file);
    if (own && std::chrono::abs(clock_.WallNow() - own->at) > kLongestBusyAge)
      return Fail(ErrorCode::kNotFound, "the device plugin's report is outdated");
    return own;
  }

  void ObserveXids() {
    if (const Result<NodeBusy> busy = ReadBusy()) xids_.Observe(busy->xids);
  }

  // Records which pods share a GPU with other pods.
  void NoteSharers() {
    std::map<std::string, std::string> uids;  // by namespace/name
    for (const PodPointer& pod : node_pods_.All()) {
      if (pod->fungible && !pod->terminal) uids.emplace(pod->Key(), pod->uid);
    }
    if (uids.empty()) return;
    const Result<std::vector<DeviceOwner>> owners = pod_resources_.List();
    if (!owners) return;
    for (const std::string& key : PodsThatShareGpus(*owners, config_.gpu_resource)) {
      if (const auto pod = uids.find(key); pod != uids.end())
        acts_.Note(pod->second, "share", clock_.WallNow());
    }
  }

  NodeProgress ReadProgress() const {
    NodeProgress progress = progress_.Report(config_.node_name, prober_.Readings());
    const std::map<std::string, StorageUse> storage = storage_.Uses();
    for (PodProgress& pod : progress.pods) {
      if (const auto use = storage.find(pod.uid); use != storage.end()) pod.storage = use->second;
    }
    AddTurns(progress);
    return progress;
  }

  // Report pods with GPUs in turns even if nothing is known of their progress.
  void AddTurns(NodeProgress& progress) const {
    std::map<std::string, TurnReading> turns = turns_.Readings();
    for (PodProgress& pod : progress.pods) {
      if (auto turn = turns.extract(pod.uid)) pod.turn = std::move(turn.mapped());
    }
    for (const PodPointer& pod : node_pods_.All()) {
      if (auto turn = turns.extract(pod->uid)) {
        PodProgress& added = progress.pods.emplace_back();
        added.uid = pod->uid;
        added.pod_namespace = pod->pod_namespace;
        added.name = pod->name;
        added.container = pod->fungible ? pod->fungible->container : "";
        added.turn = std::move(turn.mapped());
      }
    }
  }

  std::set<std::string> ProbedPods() const {
    std::set<std::string> uids;
    for (const auto& [uid, reading] : prober_.Readings()) uids.insert(uid);
    return uids;
  }

  // Returns the node's report to the controller.
  NodeProgress ReadAll() {
    NodeProgress progress = ReadProgress();
    // Read the Xids last, so that a reported end includes its Xids.
    progress.ended = failures_.Report();
    ObserveXids();
    progress.xids = xids_.Report();
    return progress;
  }

  const config::NodeAgentConfig config_;
  const Clock& clock_;
  std::unique_ptr<kube::ApiClient> client_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> probe_server_;       // null without --probe-socket
  std::unique_ptr<ProgressServer> progress_server_;  // null without progressListen
  std::unique_ptr<MemoryGroups> groups_;
  std::unique_ptr<CpuGroups> cpu_groups_;
  std::unique_ptr<CpuQuotas> cpu_quotas_;
  std::unique_ptr<Freezers> freezers_;  // null: the machine has none
  metrics::NodeAgentMetrics metrics_;
  std::unique_ptr<kube::EventRecorder> events_;
  Shrinker shrinker_;
  ApiReadingWriter writer_;
  NodePods node_pods_;
  PodActs acts_;
  CacheKeeper keeper_;
  KernelDataUse data_;
  ProgressKeeper progress_;
  StorageDivider divider_;
  StorageKeeper storage_;
  kubelet::PodResources pod_resources_;
  GpuFacts gpus_;
  XidKeeper xids_;
  std::unique_ptr<DeviceGroups> device_groups_;
  DeviceKeeper devices_;
  Prober prober_;
  TurnFollower turns_;
  FailureReader failures_;
  AllStores stores_;
  Logger& log_;
  std::unique_ptr<kube::Reflector> pods_;
  std::unique_ptr<kube::Health> health_;  // of pods_
  std::jthread shrinking_;
  std::jthread keeping_;
  std::jthread looking_at_devices_;
  std::jthread looking_at_gpus_;
  std::jthread following_turns_;
  std::jthread following_;
  std::jthread counting_;
  std::jthread measuring_storage_;
  std::jthread reading_failures_;
  std::jthread probing_;
  bool stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::Start(const config::NodeAgentConfig& config,
                                              const config::ClusterAccess& access,
                                              TemporaryWriter& writer, const Clock& clock,
                                              Logger& log) {
  auto groups = FindMemoryGroups(config.cgroup_folder, config.kubelet_cgroup_root);
  if (!groups) return Fail(groups.error());
  auto cpu_groups = FindCpuGroups(config.cgroup_folder, config.kubelet_cgroup_root);
  if (!cpu_groups) return Fail(cpu_groups.error());
  auto cpu_quotas = FindCpuQuotas(config.cgroup_folder, config.kubelet_cgroup_root);
  if (!cpu_quotas) return Fail(cpu_quotas.error());
  auto freezers = FindFreezers(config.cgroup_folder, config.kubelet_cgroup_root);
  if (!freezers && config.turns) return Fail(freezers.error());
  auto client = kube::ApiClient::Create(access, {.user_agent = "synergy-node-agent"});
  if (!client) return Fail(client.error());
  auto options = daemon::ListenOn(config.listen, log);
  if (!options) return Fail(options.error());
  options->max_body_bytes = size_t{64} << 10;
  options->max_connections = 16;
  options->self_signed = config.metrics_authorization;
  auto server = http::Server::Create(*std::move(options));
  if (!server) return Fail(server.error());
  auto daemon = std::make_unique<RunningDaemon>(
      config, *std::move(client), *std::move(server), *std::move(groups), *std::move(cpu_groups),
      *std::move(cpu_quotas), freezers ? *std::move(freezers) : nullptr, writer, clock, log);
  if (const Result<> started = daemon->Start(); !started) return Fail(started.error());
  log.Info("serving", {{"listen", config.listen},
                       {"port", daemon->port()},
                       {"node", config.node_name},
                       {"api_server", access.server},
                       {"version", Version()},
                       {"commit", Commit()}});
  return daemon;
}

}  // namespace synergy::nodeagent
