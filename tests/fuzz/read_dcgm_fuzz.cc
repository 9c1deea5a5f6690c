// Reads any text as a line of metrics, and as a DCGM exporter's page.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/check.h"
#include "metrics/exposition.h"
#include "nodeagent/gpus/dcgm_page.h"

namespace synergy {
namespace {

void CheckPage(std::string_view text) {
  metrics::ForEachLine(text, [](std::string_view line) {
    const std::optional<metrics::Sample> sample = metrics::ParseSample(line);
    if (!sample) return;
    SYNERGY_CHECK(!sample->name.empty() && sample->labels.size() <= metrics::kMostLabels,
                  "a sample has a name and is bounded");
  });
  const auto devices = nodeagent::ReadDcgmPage(text);
  if (!devices) return;
  SYNERGY_CHECK(!devices->empty() && devices->size() <= nodeagent::kMostDcgmDevices,
                "a page without devices is an error");
  for (const nodeagent::DcgmDevice& device : *devices) {
    SYNERGY_CHECK(!device.uuid.empty(), "each device has a name");
    SYNERGY_CHECK(!device.utilization || (*device.utilization >= 0 && *device.utilization <= 1),
                  "utilization is a ratio");
    SYNERGY_CHECK(!device.memory_used || *device.memory_used >= Bytes(0), "memory is an amount");
  }
}

}  // namespace
}  // namespace synergy

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  synergy::CheckPage(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
