#include "nodeagent/gpus/gpu_facts.h"

#include <algorithm>
#include <utility>

#include "inventory/advertisement.h"
#include "nodeagent/gpus/gpu_owners.h"

namespace synergy::nodeagent {
namespace {

// Figures that stay the same for longer than this count as a new sample with equal values.
constexpr Duration kLongestSample = std::chrono::minutes(1);
// A sample never covers more time than this.
constexpr Duration kLongestStep = std::chrono::minutes(5);

metrics::GpuGauge ToGauge(const DcgmDevice& device) {
  metrics::GpuGauge gauge;
  gauge.uuid = device.uuid;
  gauge.product = device.product;
  gauge.pci_id = device.pci_id;
  if (device.memory_used && device.memory_free)
    gauge.memory = *device.memory_used + *device.memory_free;
  gauge.utilization = device.utilization;
  gauge.memory_used = device.memory_used;
  gauge.temperature = device.temperature;
  gauge.power = device.power;
  gauge.last_xid = device.last_xid;
  return gauge;
}

metrics::AllocatedGpu ToAllocated(const OwnedGpu& gpu) {
  metrics::AllocatedGpu allocated;
  allocated.resource = gpu.owner->resource;
  allocated.uuid = gpu.device != nullptr ? gpu.device->uuid : gpu.owner->device;
  if (gpu.device != nullptr && gpu.device->IsInstance()) allocated.mig_uuid = gpu.owner->device;
  allocated.pod_namespace = gpu.owner->pod_namespace;
  allocated.pod = gpu.owner->pod;
  allocated.container = gpu.owner->container;
  if (gpu.device == nullptr || gpu.shared) return allocated;
  allocated.utilization = gpu.device->utilization;
  allocated.memory_used = gpu.device->memory_used;
  return allocated;
}

// Returns the owners of whole GPUs, which are named by their UUIDs.
std::vector<DeviceOwner> OwnersOfGpus(const std::vector<OwnedGpu>& owned) {
  std::vector<DeviceOwner> owners;
  for (const OwnedGpu& gpu : owned) {
    if (gpu.device == nullptr || gpu.device->IsInstance()) continue;
    owners.push_back(*gpu.owner);
    owners.back().device = gpu.device->uuid;
  }
  return owners;
}

// Marks the GPUs that the kubelet offers as healthy. The state of other GPUs is unknown.
void MarkOffered(const std::vector<KubeletDevice>& offered, const std::vector<DcgmDevice>& devices,
                 metrics::GpuGauges& gauges) {
  for (metrics::GpuGauge& gauge : gauges.gpus) {
    const auto device = std::find_if(devices.begin(), devices.end(), [&](const DcgmDevice& one) {
      return !one.IsInstance() && one.uuid == gauge.uuid;
    });
    const bool is_offered =
        std::any_of(offered.begin(), offered.end(), [&](const KubeletDevice& one) {
          return one.id == gauge.uuid || (device != devices.end() && one.id == device->device);
        });
    if (is_offered) gauge.healthy = true;
  }
}

}  // namespace

PodPointer FindExporter(const std::vector<PodPointer>& pods, const ExporterRules& rules) {
  for (const PodPointer& pod : pods) {
    const bool is_trusted = std::find(rules.namespaces.begin(), rules.namespaces.end(),
                                      pod->pod_namespace) != rules.namespaces.end();
    if (is_trusted && !pod->daemon_set.empty() && !pod->terminal && !pod->deleting &&
        !pod->pod_ip.empty() && MatchesPattern(rules.daemon_set, pod->daemon_set))
      return pod;
  }
  return nullptr;
}

GpuFacts::GpuFacts(const NodePods& pods, ExporterRules rules, GpuFactsSources sources,
                   std::string gpu_resource, std::string node, const Clock& clock, Logger& log,
                   metrics::NodeAgentMetrics& metrics)
    : pods_(pods),
      rules_(std::move(rules)),
      sources_(std::move(sources)),
      gpu_resource_(std::move(gpu_resource)),
      node_(std::move(node)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      meter_(kLongestStep) {}

void GpuFacts::Step(const std::stop_token& stop) {
  if (const PodPointer exporter = FindExporter(pods_.All(), rules_)) {
    const Result<std::string> page =
        sources_.read_page(exporter->pod_ip, rules_.port, rules_.path, stop);
    Result<std::vector<DcgmDevice>> devices =
        page ? ReadDcgmPage(*page) : Result<std::vector<DcgmDevice>>(Fail(page.error()));
    if (devices) {
      problems_.clear();
      Take(*std::move(devices));
    } else {
      Report("exporter_unreadable", exporter->Key() + ": " + devices.error().message);
    }
  }
  const Duration longest = std::max(kLongestSample, sample_interval_ * 3);
  if (!devices_.empty() && clock_.Now() - page_at_ > longest) {
    devices_.clear();
    sample_.reset();
  }
  Publish();
}

void GpuFacts::Take(std::vector<DcgmDevice> devices) {
  const Moment at = clock_.Present();
  page_at_ = at.now;
  if (sample_ && devices == devices_ && at.now - sample_->now < kLongestSample) return;
  std::map<std::string, std::optional<double>> utilizations;
  for (const DcgmDevice& device : devices) utilizations.emplace(device.Key(), device.utilization);
  meter_.Add(utilizations, at);
  if (sample_) {
    sample_interval_ = at.now - sample_->now;
    NoteXids(devices);
  }
  sample_ = at;
  devices_ = std::move(devices);
}

void GpuFacts::NoteXids(const std::vector<DcgmDevice>& devices) {
  for (const DcgmDevice& device : devices) {
    if (device.IsInstance() || !device.last_xid) continue;
    const auto before = std::find_if(devices_.begin(), devices_.end(), [&](const DcgmDevice& one) {
      return one.Key() == device.Key();
    });
    if (before != devices_.end() && before->last_xid && before->last_xid != device.last_xid)
      xids_.Add(device.uuid, *device.last_xid, sample_->wall);
  }
}

void GpuFacts::Publish() {
  metrics::GpuGauges gauges;
  gauges.node = node_;
  std::optional<NodeBusy> busy;
  const auto given = sources_.given();
  if (!given) {
    Report("pod_resources_unreadable", given.error().message);
  } else {
    const std::vector<OwnedGpu> owned = MatchOwners(*given, devices_, gpu_resource_);
    for (const OwnedGpu& gpu : owned) gauges.allocated.push_back(ToAllocated(gpu));
    if (sample_) {
      busy = NodeBusy{sample_->wall, BusyOfContainers(owned, meter_), sample_interval_,
                      xids_.Recent(OwnersOfGpus(owned), clock_.WallNow())};
    }
  }
  for (const DcgmDevice& device : devices_)
    if (!device.IsInstance()) gauges.gpus.push_back(ToGauge(device));
  if (const auto offered = sources_.offered()) MarkOffered(*offered, devices_, gauges);
  const std::lock_guard lock(mutex_);
  busy_ = std::move(busy);
  gauges_ = std::move(gauges);
}

void GpuFacts::Report(std::string_view reason, const std::string& message) {
  metrics_.CountError(reason);
  if (!problems_.insert(message).second) return;
  log_.Warn("the activity of GPUs is not known", {{"reason", reason}, {"error", message}});
}

Result<NodeBusy> GpuFacts::Busy() const {
  const std::lock_guard lock(mutex_);
  if (!busy_) return Fail(ErrorCode::kNotFound, "no exporter");
  return *busy_;
}

metrics::GpuGauges GpuFacts::Gauges() const {
  const std::lock_guard lock(mutex_);
  return gauges_;
}

}  // namespace synergy::nodeagent
