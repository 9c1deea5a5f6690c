#pragma once

// Reports to the node agent on the same node how long the GPUs of each container were busy, and
// which Xids they had. It reads the GPUs' utilization once a second, and writes a file
// (wire/agents/gpu_busy.h) after every second reading. The file is replaced as a whole, so that a
// reader never sees an incomplete one. Its timestamp shows readers that it is outdated if this
// process has ended.
//
// Threading: one thread calls Step; any thread may call SeeXid. Failures: if the owners of the GPUs
// are unknown, nothing is written. A failed write is logged if its reason is new, and retried.

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "deviceplugin/sources/device_source.h"
#include "inventory/gpu_busy.h"
#include "inventory/gpu_xids.h"
#include "inventory/kubelet_device.h"

namespace synergy::deviceplugin {

class BusyWriter {
 public:
  using ReadUse = std::function<std::map<std::string, DeviceUse>()>;
  // Returns the owners of those GPUs that this program has allocated.
  using ReadOwners = std::function<Result<std::vector<DeviceOwner>>()>;

  // `clock` and `log` must outlive this object.
  BusyWriter(std::string file, ReadUse read_use, ReadOwners read_owners, const Clock& clock,
             Logger& log);

  // Reads the utilization once.
  void Step();
  void SeeXid(const XidEvent& event);

 private:
  const std::string file_;
  const ReadUse read_use_;
  const ReadOwners read_owners_;
  const Clock& clock_;
  Logger& log_;
  BusyMeter meter_;
  bool is_due_ = false;
  std::string problem_;

  std::mutex mutex_;
  XidOwners xids_;
};

// Returns the busy times of all containers. Omits a container if one of its GPUs is unknown, for
// example because it is a part of a GPU (MIG).
NodeBusy ToNodeBusy(const BusyMeter& meter, const std::vector<DeviceOwner>& owners, WallTime at);

}  // namespace synergy::deviceplugin
