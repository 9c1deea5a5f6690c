#pragma once

// Records on the node's managed pods whether their GPUs survive a resize (device_allow.h). No
// running pod is resized before its reading is recorded. Each container is read again when the
// kubelet reports other amounts, and every ten seconds, because other programs change scopes, too.
// If a container was safe but no longer is, it has lost its GPUs.
//
// Threading: one owner. Failures: a failed read is repeated at the next look; until then nothing is
// recorded.

#include <array>
#include <map>
#include <optional>
#include <string>

#include "core/clock.h"
#include "core/log.h"
#include "core/resources.h"
#include "nodeagent/cgroups/node_pods.h"
#include "nodeagent/devices/device_allow.h"
#include "nodeagent/reading_writer.h"

namespace synergy::nodeagent {

class DeviceKeeper {
 public:
  // All references must outlive the keeper.
  DeviceKeeper(const NodePods& pods, DeviceGroups& groups, ReadingWriter& writer,
               const Clock& clock, Logger& log);

  // Looks at every pod once. Returns the delay until the next look.
  Duration Step();

 private:
  // The amounts in the spec, those in force, and those that the kubelet has allocated.
  using Amounts = std::array<ResourceVector, 3>;
  struct Seen {
    DeviceReading reading;
    Amounts amounts;  // at the time of the reading
    Instant read{};
    std::optional<Instant> written;
  };

  void Look(const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container);
  // Reads the container again if that is due. Returns whether there is a reading of it.
  bool Read(const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container,
            Seen& seen);

  const NodePods& pods_;
  DeviceGroups& groups_;
  ReadingWriter& writer_;
  const Clock& clock_;
  Logger& log_;
  std::map<std::string, Seen> seen_;  // by uid
};

}  // namespace synergy::nodeagent
