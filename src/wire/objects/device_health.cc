#include "wire/objects/device_health.h"

#include "json/document.h"

namespace synergy::wire {

std::vector<UnhealthyDevice> ReadUnhealthyDevices(std::string_view pod) {
  std::vector<UnhealthyDevice> found;
  const auto document = json::Document::Parse(pod);
  if (!document) return found;
  const auto text = [](json::Value value) {
    return value.IsString() ? std::string(value.text()) : std::string();
  };
  const json::Value status = document->root()["status"];
  for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
    status[list].ForEachElement([&](json::Value container) {
      container["allocatedResourcesStatus"].ForEachElement([&](json::Value resource) {
        resource["resources"].ForEachElement([&](json::Value device) {
          UnhealthyDevice one{text(container["name"]), text(resource["name"]),
                              text(device["resourceID"]), text(device["health"]),
                              text(device["message"])};
          if (!one.id.empty() && !one.health.empty() && one.health != "Healthy")
            found.push_back(std::move(one));
        });
      });
    });
  }
  return found;
}

}  // namespace synergy::wire
