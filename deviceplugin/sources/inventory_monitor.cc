#include "deviceplugin/sources/inventory_monitor.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace synergy::deviceplugin {

namespace {

std::vector<std::string> ResourcesOf(const Picture* picture) {
  std::vector<std::string> names;
  if (picture == nullptr) return names;
  for (const auto& [name, devices] : picture->advertisement.resources) names.push_back(name);
  return names;
}

// The kinds of problems of a GPU, with the words for their beginning and end.
enum class Problem { kUnhealthy, kUnreachable, kWithoutEvents, kLeftOut };
struct Words {
  const char* reason;
  const char* text;
};
Words BeginOf(Problem problem) {
  switch (problem) {
    case Problem::kUnhealthy:
      return {"SynergyGpuUnhealthy", "is unhealthy"};
    case Problem::kUnreachable:
      return {"SynergyGpuUnreachable", "cannot be reached"};
    case Problem::kWithoutEvents:
      return {"SynergyGpuXidsUnseen", "does not report its Xids"};
    case Problem::kLeftOut:
      return {"SynergyGpuLeftOut", "is not advertised"};
  }
  return {"", ""};
}
Words EndOf(Problem problem) {
  switch (problem) {
    case Problem::kUnhealthy:
      return {"SynergyGpuHealthy", "is healthy again"};
    case Problem::kUnreachable:
      return {"SynergyGpuReachable", "can be reached, or is counted no longer"};
    case Problem::kWithoutEvents:
      return {"SynergyGpuXidsSeen", "reports its Xids again"};
    case Problem::kLeftOut:
      return {"SynergyGpuAdvertised", "is not left out any more"};
  }
  return {"", ""};
}

// Reasons by problem and GPU.
using Problems = std::map<std::pair<Problem, std::string>, std::string>;

Problems ProblemsOf(const Picture& picture) {
  Problems problems;
  const std::vector<Gpu>& gpus = picture.inventory.gpus();
  for (size_t i = 0; i < gpus.size(); ++i)
    if (!picture.health[i].healthy)
      problems[{Problem::kUnhealthy, gpus[i].uuid}] = picture.health[i].reason;
  // Add parts that are unhealthy while their GPU is healthy.
  for (const auto& [resource, devices] : picture.advertisement.resources)
    for (const GpuDevice& device : devices)
      if (!device.health.healthy && picture.health[device.gpu].healthy)
        problems[{Problem::kUnhealthy, device.id}] = device.health.reason;
  for (const auto& [index, why] : picture.unreachable)
    problems[{Problem::kUnreachable, fmt::format("with index {}", index)}] = why;
  for (const auto& [uuid, why] : picture.without_events)
    problems[{Problem::kWithoutEvents, uuid}] = why;
  for (const auto& [uuid, why] : picture.advertisement.left_out)
    problems[{Problem::kLeftOut, uuid}] = why;
  return problems;
}

}  // namespace

InventoryMonitor::InventoryMonitor(std::unique_ptr<DeviceSource> source, MonitorRules rules,
                                   MonitorCallbacks callbacks, const Clock& clock, Logger& log,
                                   metrics::DeviceMetrics& metrics)
    : source_(std::move(source)),
      callbacks_(std::move(callbacks)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      pause_(rules.probe_interval),
      rules_(std::move(rules)),
      last_look_(clock.Now()),
      judge_(rules_.health) {}

InventoryMonitor::~InventoryMonitor() { Stop(); }

void InventoryMonitor::Start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

void InventoryMonitor::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void InventoryMonitor::SetRules(MonitorRules rules) {
  {
    const std::lock_guard lock(mutex_);
    rules_ = std::move(rules);
  }
  source_->Wake();
}

std::shared_ptr<const Picture> InventoryMonitor::picture() const {
  const std::lock_guard lock(mutex_);
  return picture_;
}

std::string InventoryMonitor::source_error() const {
  const std::lock_guard lock(mutex_);
  return source_error_;
}

Instant InventoryMonitor::last_look() const {
  const std::lock_guard lock(mutex_);
  return last_look_;
}

std::chrono::milliseconds InventoryMonitor::pause() const {
  const std::lock_guard lock(mutex_);
  return pause_;
}

void InventoryMonitor::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Look();
    std::chrono::milliseconds interval;
    {
      const std::lock_guard lock(mutex_);
      interval = pause_ = rules_.probe_interval;
    }
    SeeEvents(source_->Wait(interval, stop));
  }
}

void InventoryMonitor::Look() {
  MonitorRules rules;
  std::shared_ptr<const Picture> before;
  {
    const std::lock_guard lock(mutex_);
    rules = rules_;
    before = picture_;
  }
  const Result<Reading> reading = source_->Read();
  const Instant now = clock_.Now();
  judge_.SetRules(rules.health);
  auto next = std::make_shared<Picture>();
  if (reading) {
    next->inventory = reading->inventory;
    next->unreachable = reading->unreachable;
    next->without_events = reading->without_events;
    for (const auto& [uuid, probe] : reading->probes) judge_.SeeProbe(uuid, probe, now);
    // A GPU's probe also applies to its parts.
    for (const Gpu& gpu : next->inventory.gpus()) {
      const auto probe = reading->probes.find(gpu.uuid);
      if (probe == reading->probes.end()) continue;
      for (const MigDevice& part : gpu.mig_devices) judge_.SeeProbe(part.uuid, probe->second, now);
    }
  } else if (before) {
    next->inventory = before->inventory;
    next->unreachable = before->unreachable;
    next->without_events = before->without_events;
    if (reading.error().code == ErrorCode::kUnavailable) {
      for (const Gpu& gpu : next->inventory.gpus())
        judge_.SeeProbe(gpu.uuid, {.fault = reading.error().message}, now);
    }
  }
  SetSourceError(reading ? std::string() : reading.error().message);
  if (reading || before) {
    for (const Gpu& gpu : next->inventory.gpus())
      next->health.push_back(judge_.Judge(gpu.uuid, now));
    next->advertisement = Advertise(
        next->inventory, rules.advertisement,
        [&](std::string_view uuid) { return judge_.Judge(uuid, now); }, ResourcesOf(before.get()));
    if (!before || *before != *next) {
      ReportNews(before ? *before : Picture{}, *next);
      {
        const std::lock_guard lock(mutex_);
        picture_ = next;
      }
      if (callbacks_.on_change) callbacks_.on_change(next);
    }
  }
  if (callbacks_.on_look) callbacks_.on_look();
  const std::lock_guard lock(mutex_);
  last_look_ = clock_.Now();
}

void InventoryMonitor::SeeEvents(const std::vector<XidEvent>& events) {
  const Instant now = clock_.Now();
  const std::shared_ptr<const Picture> known = picture();
  for (const XidEvent& event : events) {
    metrics_.CountXid(event.uuid, event.xid);
    if (callbacks_.on_xid) callbacks_.on_xid(event);
    log_.Warn("the driver reports an error",
              {{"gpu", event.uuid},
               {"mig_devices", fmt::format("{}", fmt::join(event.mig_uuids, ","))},
               {"xid", event.xid}});
    if (!event.mig_uuids.empty()) {
      for (const std::string& uuid : event.mig_uuids) judge_.SeeXid(uuid, event.xid, now);
    } else if (!event.uuid.empty()) {
      judge_.SeeXid(event.uuid, event.xid, now);
    } else if (known) {
      // The Xid's GPU is unknown, so it counts for all GPUs: one GPU too few for a while is better
      // than one too many.
      for (const Gpu& gpu : known->inventory.gpus()) judge_.SeeXid(gpu.uuid, event.xid, now);
    }
  }
}

void InventoryMonitor::SetSourceError(const std::string& error) {
  std::string before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(source_error_, error);
  }
  if (!error.empty()) metrics_.CountSourceError();
  if (error == before) return;
  if (error.empty()) {
    log_.Info("the GPUs can be seen");
  } else {
    log_.Error("the GPUs cannot be seen", {{"error", error}});
  }
}

void InventoryMonitor::ReportNews(const Picture& before, const Picture& now) {
  const auto report = [&](bool bad, const Words& words, const std::string& gpu,
                          const std::string& rest) {
    const GpuNews news{bad, words.reason, fmt::format("GPU {} {}{}", gpu, words.text, rest)};
    if (bad) {
      log_.Warn(news.message, {{"reason", news.reason}});
    } else {
      log_.Info(news.message, {{"reason", news.reason}});
    }
    if (callbacks_.on_news) callbacks_.on_news(news);
  };
  const Problems old = ProblemsOf(before);
  const Problems current = ProblemsOf(now);
  for (const auto& [key, why] : current) {
    const auto earlier = old.find(key);
    if (earlier != old.end() && earlier->second == why) continue;
    report(true, BeginOf(key.first), key.second, ": " + why);
  }
  for (const auto& [key, why] : old)
    if (!current.contains(key))
      report(false, EndOf(key.first), key.second, fmt::format(" (it was: {})", why));
  if (before.inventory.gpus().size() != now.inventory.gpus().size())
    log_.Info("the inventory changed", {{"gpus", now.inventory.gpus().size()}});
}

}  // namespace synergy::deviceplugin
