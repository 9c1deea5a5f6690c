// Reads any text as a Node's annotation synergy.io/gpu-inventory, which every client that may patch
// nodes can write.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.h"
#include "json/text.h"
#include "wire/objects/gpu_inventory.h"

namespace synergy::wire {
namespace {

void CheckText(std::string_view text) {
  const Result<NodeGpus> gpus = ReadGpuInventory(text);
  if (!gpus) {
    SYNERGY_CHECK(json::IsUtf8(gpus.error().message), "messages are UTF-8");
    return;
  }
  SYNERGY_CHECK(gpus->health.size() == gpus->inventory.gpus().size(), "each GPU has its health");
  const std::string written = WriteGpuInventory(*gpus);
  const Result<NodeGpus> again = ReadGpuInventory(written);
  SYNERGY_CHECK(again && WriteGpuInventory(*again) == written, "what is written is read as it was");
}

}  // namespace
}  // namespace synergy::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  synergy::wire::CheckText(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
