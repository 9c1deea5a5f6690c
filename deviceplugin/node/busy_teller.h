#pragma once

// Tells the node agent beside it how long the GPUs of each container have been busy: it looks at
// them once a second, and writes a file every other time (wire/agents/gpu_busy.h). The file is
// replaced as a whole, so that nobody ever reads half of it, and is old when this process is gone:
// its reader goes by its time.
//
// Threading: Step by one thread.
// Failures: who has which GPU is not known: nothing is written. A file that cannot be written is
// logged when the reason is new, and tried again.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "deviceplugin/plugin/pod_resources.h"
#include "deviceplugin/sources/device_source.h"
#include "inventory/gpu_busy.h"

namespace synergy::deviceplugin {

class BusyTeller {
 public:
  using ReadUse = std::function<std::map<std::string, DeviceUse>()>;
  // Of the GPUs alone that this program has given out.
  using ReadOwners = std::function<Result<std::vector<DeviceOwner>>()>;

  // `clock` and `log` outlive this.
  BusyTeller(std::string file, ReadUse read_use, ReadOwners read_owners, const Clock& clock,
             Logger& log);

  // One look.
  void Step();

 private:
  const std::string file_;
  const ReadUse read_use_;
  const ReadOwners read_owners_;
  const Clock& clock_;
  Logger& log_;
  BusyMeter meter_;
  bool is_due_ = false;
  std::string problem_;
};

// What is known of each container. One with a GPU of which nothing is known, as of a part of a GPU
// (MIG), is left out.
NodeBusy ToNodeBusy(const BusyMeter& meter, const std::vector<DeviceOwner>& owners, WallTime at);

}  // namespace synergy::deviceplugin
