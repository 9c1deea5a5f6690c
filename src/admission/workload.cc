#include "admission/workload.h"

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "cluster/annotations.h"

namespace synergy {
namespace {

// FNV-1a, 64 bits. The hash includes lengths, so that {"a", "b"} differs from {"ab"}.
class StableHash {
 public:
  void Add(std::string_view text) {
    Add(text.size());
    for (const char c : text) AddByte(static_cast<unsigned char>(c));
  }
  void Add(const std::vector<std::string>& texts) {
    Add(texts.size());
    for (const std::string& text : texts) Add(std::string_view(text));
  }
  uint64_t value() const { return value_; }

 private:
  void Add(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) AddByte((number >> shift) & 0xff);
  }
  void AddByte(uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }

  uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace

std::string WorkloadOf(const PodToAdmit& pod) {
  if (!pod.workload.empty()) return pod.workload;
  const std::string label(FindLabel(pod.labels, annotations::kWorkload).value_or(""));
  if (!label.empty() || pod.exists || pod.gpu_containers.empty()) return label;
  const GpuContainer& container = pod.gpu_containers.front();
  StableHash hash;
  hash.Add(std::string_view(container.image));
  hash.Add(container.command);
  hash.Add(container.args);
  return fmt::format("w-{:016x}", hash.value());
}

}  // namespace synergy
