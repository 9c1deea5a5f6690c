#include "inventory/gpu.h"

#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace synergy {
namespace {

// Bandwidth per direction of one NVLink connection in the generations of V100 and A100.
constexpr int kNvLinkWorth = 25;

}  // namespace

std::string_view ToString(PciPath path) {
  switch (path) {
    case PciPath::kSystem:
      return "system";
    case PciPath::kNode:
      return "node";
    case PciPath::kHostBridge:
      return "host-bridge";
    case PciPath::kMultipleSwitches:
      return "multiple-switches";
    case PciPath::kSingleSwitch:
      return "single-switch";
    case PciPath::kSameBoard:
      return "same-board";
  }
  return "unknown";
}

Result<PciPath> ParsePciPath(std::string_view text) {
  std::string known;
  for (const PciPath path : kPciPaths) {
    if (text == ToString(path)) return path;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", ToString(path));
  }
  return Fail(ErrorCode::kInvalid, fmt::format("\"{}\" is not one of {}", text, known));
}

std::string ToText(const ComputeCapability& capability) {
  return fmt::format("{}.{}", capability.major, capability.minor);
}

std::optional<ComputeCapability> ParseComputeCapability(std::string_view text) {
  ComputeCapability capability;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto major = std::from_chars(begin, end, capability.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, capability.minor);
  if (minor.ec != std::errc() || minor.ptr != end) return std::nullopt;
  return capability;
}

int Worth(const GpuLink& link) {
  if (link.nvlinks > 0) return kNvLinkWorth * link.nvlinks;
  // PCIe 3.0 with 16 lanes, less a loss per hop: only the order matters.
  switch (link.path) {
    case PciPath::kSystem:
      return 6;
    case PciPath::kNode:
      return 8;
    case PciPath::kHostBridge:
      return 9;
    case PciPath::kMultipleSwitches:
      return 11;
    case PciPath::kSingleSwitch:
      return 12;
    case PciPath::kSameBoard:
      return 13;
  }
  return 0;
}

GpuInventory::GpuInventory(std::vector<Gpu> gpus)
    : gpus_(std::move(gpus)), links_(gpus_.size() * gpus_.size()) {
  for (size_t a = 0; a < gpus_.size(); ++a) {
    for (size_t b = 0; b < gpus_.size(); ++b) {
      const bool near = gpus_[a].numa_node == gpus_[b].numa_node;
      links_[a * gpus_.size() + b].path = a == b ? PciPath::kSameBoard
                                          : near ? PciPath::kNode
                                                 : PciPath::kSystem;
    }
  }
}

void GpuInventory::SetLink(size_t a, size_t b, const GpuLink& link) {
  links_[a * gpus_.size() + b] = link;
  links_[b * gpus_.size() + a] = link;
}

std::optional<size_t> GpuInventory::Find(std::string_view uuid) const {
  for (size_t i = 0; i < gpus_.size(); ++i)
    if (gpus_[i].uuid == uuid) return i;
  return std::nullopt;
}

}  // namespace synergy
