#include "wire/objects/container_end.h"

#include <limits>
#include <string_view>

namespace synergy::wire {

int32_t ReadRestarts(FieldReader& fields, Value status) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>(fields.Integer(status["restartCount"], 0, kMost));
}

std::optional<LastEnd> ReadLastEnd(FieldReader& fields, Value status) {
  const int32_t restarts = ReadRestarts(fields, status);
  const Value now = fields.Object(fields.Object(status["state"])["terminated"]);
  if (!now.missing()) return LastEnd{restarts, now};
  const Value before = fields.Object(fields.Object(status["lastState"])["terminated"]);
  if (before.missing()) return std::nullopt;
  // While a container waits for its next run, as in CrashLoopBackOff, the kubelet moves the state
  // of the ended run to lastState, and counts the restart later.
  const std::string_view id = fields.Text(before["containerID"]);
  const bool waits = !id.empty() && id == fields.Text(status["containerID"]);
  if (!waits && restarts == 0) return std::nullopt;
  return LastEnd{waits ? restarts : restarts - 1, before};
}

}  // namespace synergy::wire
