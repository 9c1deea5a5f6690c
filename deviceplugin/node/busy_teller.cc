#include "deviceplugin/node/busy_teller.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "config/text_file.h"
#include "wire/agents/gpu_busy.h"

namespace synergy::deviceplugin {

NodeBusy ToNodeBusy(const BusyMeter& meter, const std::vector<DeviceOwner>& owners, WallTime at) {
  struct Gpus {
    double seconds = 0;
    WallTime since{};
    int count = 0;
    bool known = true;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Gpus> containers;
  for (const DeviceOwner& owner : owners) {
    Gpus& gpus = containers[{owner.pod_namespace, owner.pod, owner.container}];
    const std::optional<BusyMeter::Busy> busy = meter.Of(owner.device);
    gpus.known = gpus.known && busy.has_value();
    if (!busy) continue;
    gpus.seconds += busy->seconds;
    gpus.since = std::max(gpus.since, busy->since);
    ++gpus.count;
  }
  NodeBusy told{.at = at, .containers = {}};
  for (const auto& [key, gpus] : containers) {
    if (!gpus.known) continue;
    const auto& [pod_namespace, pod, container] = key;
    told.containers.push_back(
        {pod_namespace, pod, container, gpus.seconds / gpus.count, gpus.since});
  }
  return told;
}

BusyTeller::BusyTeller(std::string file, ReadUse read_use, ReadOwners read_owners,
                       const Clock& clock, Logger& log)
    : file_(std::move(file)),
      read_use_(std::move(read_use)),
      read_owners_(std::move(read_owners)),
      clock_(clock),
      log_(log) {}

void BusyTeller::Step() {
  std::map<std::string, std::optional<double>> utilizations;
  for (const auto& [uuid, use] : read_use_()) utilizations.emplace(uuid, use.utilization);
  const Moment at = clock_.Present();
  meter_.Add(utilizations, at);
  is_due_ = !is_due_;
  if (!is_due_) return;
  const Result<std::vector<DeviceOwner>> owners = read_owners_();
  if (!owners) return;
  const Result<> written =
      config::WriteWholeFile(file_, wire::WriteNodeBusy(ToNodeBusy(meter_, *owners, at.wall)));
  std::string problem = written ? std::string() : written.error().message;
  if (problem != problem_ && !problem.empty())
    log_.Error("the node agent is not told how busy GPUs are", {{"error", problem}});
  problem_ = std::move(problem);
}

}  // namespace synergy::deviceplugin
