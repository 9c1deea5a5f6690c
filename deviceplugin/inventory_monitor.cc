#include "deviceplugin/inventory_monitor.h"

#include <utility>

namespace synergy::deviceplugin {

namespace {

bool IsSame(const Picture& a, const Picture& b) {
  return a.inventory == b.inventory && a.health == b.health && a.advertisement == b.advertisement;
}

std::vector<std::string> ResourcesOf(const Picture* picture) {
  std::vector<std::string> names;
  if (picture == nullptr) return names;
  for (const auto& [name, devices] : picture->advertisement.resources) names.push_back(name);
  return names;
}

}  // namespace

InventoryMonitor::InventoryMonitor(std::unique_ptr<DeviceSource> source, MonitorRules rules,
                                   OnChange on_change, const Clock& clock, Logger& log,
                                   metrics::DeviceMetrics& metrics)
    : source_(std::move(source)),
      on_change_(std::move(on_change)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
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

void InventoryMonitor::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Look();
    std::chrono::milliseconds interval;
    {
      const std::lock_guard lock(mutex_);
      interval = rules_.probe_interval;
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
    for (const auto& [uuid, probe] : reading->probes) judge_.SeeProbe(uuid, probe, now);
  } else if (before) {
    next->inventory = before->inventory;
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
    if (!before || !IsSame(*before, *next)) {
      LogHealth(before ? *before : Picture{}, *next);
      {
        const std::lock_guard lock(mutex_);
        picture_ = next;
      }
      on_change_(next);
    }
  }
  const std::lock_guard lock(mutex_);
  last_look_ = clock_.Now();
}

void InventoryMonitor::SeeEvents(const std::vector<XidEvent>& events) {
  const Instant now = clock_.Now();
  const std::shared_ptr<const Picture> known = picture();
  for (const XidEvent& event : events) {
    metrics_.CountXid(event.uuid, event.xid);
    log_.Warn("the driver reports an error", {{"gpu", event.uuid}, {"xid", event.xid}});
    if (!event.uuid.empty()) {
      judge_.SeeXid(event.uuid, event.xid, now);
    } else if (known) {
      // Of some GPU: better one too few for a while than one too many.
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

void InventoryMonitor::LogHealth(const Picture& before, const Picture& now) {
  for (size_t i = 0; i < now.inventory.gpus().size(); ++i) {
    const std::string& uuid = now.inventory.gpus()[i].uuid;
    const auto earlier = before.inventory.Find(uuid);
    const GpuHealth was = earlier ? before.health[*earlier] : GpuHealth{};
    if (was == now.health[i]) continue;
    if (now.health[i].healthy) {
      log_.Info("GPU is healthy again", {{"gpu", uuid}, {"was", was.reason}});
    } else {
      log_.Warn("GPU is unhealthy", {{"gpu", uuid}, {"reason", now.health[i].reason}});
    }
  }
  if (now.advertisement.left_out != before.advertisement.left_out) {
    for (const std::string& what : now.advertisement.left_out)
      log_.Warn("GPU is not advertised", {{"gpu", what}});
  }
  if (before.inventory.gpus().size() != now.inventory.gpus().size())
    log_.Info("the inventory changed", {{"gpus", now.inventory.gpus().size()}});
}

}  // namespace synergy::deviceplugin
