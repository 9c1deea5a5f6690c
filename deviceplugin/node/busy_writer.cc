#include "deviceplugin/node/busy_writer.h"

#include <optional>
#include <utility>

#include "config/text_file.h"
#include "wire/agents/gpu_busy.h"

namespace synergy::deviceplugin {

NodeBusy ToNodeBusy(const BusyMeter& meter, const std::vector<DeviceOwner>& owners, WallTime at) {
  std::vector<OwnedBusy> gpus;
  for (const DeviceOwner& owner : owners) gpus.push_back({&owner, meter.Of(owner.device)});
  return {.at = at, .containers = MeansOfContainers(gpus)};
}

BusyWriter::BusyWriter(std::string file, ReadUse read_use, ReadOwners read_owners,
                       const Clock& clock, Logger& log)
    : file_(std::move(file)),
      read_use_(std::move(read_use)),
      read_owners_(std::move(read_owners)),
      clock_(clock),
      log_(log) {}

void BusyWriter::Step() {
  std::map<std::string, std::optional<double>> utilizations;
  for (const auto& [uuid, use] : read_use_()) utilizations.emplace(uuid, use.utilization);
  const Moment at = clock_.Present();
  meter_.Add(utilizations, at);
  is_due_ = !is_due_;
  if (!is_due_) return;
  const Result<std::vector<DeviceOwner>> owners = read_owners_();
  if (!owners) return;
  NodeBusy busy = ToNodeBusy(meter_, *owners, at.wall);
  {
    const std::lock_guard lock(mutex_);
    busy.xids = xids_.Recent(*owners, at.wall);
  }
  const Result<> written = config::WriteWholeFile(file_, wire::WriteNodeBusy(busy));
  std::string problem = written ? std::string() : written.error().message;
  if (problem != problem_ && !problem.empty())
    log_.Error("cannot report to the node agent how busy GPUs are", {{"error", problem}});
  problem_ = std::move(problem);
}

void BusyWriter::SeeXid(const XidEvent& event) {
  const WallTime now = clock_.WallNow();
  const std::lock_guard lock(mutex_);
  if (event.mig_uuids.empty()) return xids_.Add(event.uuid, event.xid, now);
  for (const std::string& uuid : event.mig_uuids) xids_.Add(uuid, event.xid, now);
}

}  // namespace synergy::deviceplugin
