#include "wire/device_health.h"

#include "json/document.h"

namespace synergy::wire {

std::vector<IllDevice> ReadIllDevices(std::string_view pod) {
  std::vector<IllDevice> ill;
  const auto document = json::Document::Parse(pod);
  if (!document) return ill;
  const auto text = [](json::Value value) {
    return value.IsString() ? std::string(value.text()) : std::string();
  };
  const json::Value status = document->root()["status"];
  for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
    status[list].ForEachElement([&](json::Value container) {
      container["allocatedResourcesStatus"].ForEachElement([&](json::Value resource) {
        resource["resources"].ForEachElement([&](json::Value device) {
          IllDevice one{text(container["name"]), text(resource["name"]), text(device["resourceID"]),
                        text(device["health"]), text(device["message"])};
          if (!one.id.empty() && !one.health.empty() && one.health != "Healthy")
            ill.push_back(std::move(one));
        });
      });
    });
  }
  return ill;
}

}  // namespace synergy::wire
