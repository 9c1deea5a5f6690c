#include "cluster/claims.h"

#include <optional>
#include <string>
#include <string_view>

#include "cluster/annotations.h"
#include "core/wall_time.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {

namespace {

// Returns when the field manager wrote the annotation through the subresource.
std::optional<WallTime> WrittenBy(std::string_view manager, std::string_view subresource,
                                  Value metadata, std::string_view annotation) {
  // Most pods lack the annotation, and managedFields are long.
  if (metadata["annotations"][annotation].absent()) return std::nullopt;
  const std::string field = "f:" + std::string(annotation);
  std::optional<WallTime> written;
  metadata["managedFields"].ForEachElement([&](Value entry) {
    if (entry["manager"].text() != manager || entry["operation"].text() != "Update" ||
        entry["subresource"].text() != subresource ||
        entry["fieldsV1"]["f:metadata"]["f:annotations"][field].absent()) {
      return;
    }
    written = ParseTime(entry["time"].text());
  });
  return written;
}

}  // namespace

std::optional<WallTime> WrittenBySynergy(Value metadata, std::string_view annotation) {
  return WrittenBy(annotations::kFieldManager, "", metadata, annotation);
}

bool WrittenByNodeAgent(Value metadata, std::string_view annotation) {
  return WrittenBy(annotations::kNodeAgentManager, "status", metadata, annotation).has_value();
}

bool IsManaged(Value spec, const ClaimRules& rules) {
  return spec["schedulerName"].text() == rules.scheduler_name;
}

std::optional<WallTime> ClaimedUntil(Value metadata, std::string_view annotation,
                                     const ClaimRules& rules) {
  const std::optional<WallTime> written = WrittenBySynergy(metadata, annotation);
  if (!written) return std::nullopt;
  return *written + rules.longest();
}

}  // namespace synergy::wire
