#pragma once

// Parses the kernel's counts of the bytes that a control group reads from and writes to block
// devices.
//
// Threading: pure. Failures: none; lines that cannot be parsed, and devices beyond kMostDevices,
// are skipped.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace synergy::nodeagent {

// The maximum number of devices, which limits memory use and metrics. Nodes have far fewer disks.
inline constexpr size_t kMostDevices = 64;

struct DeviceNumber {
  uint32_t major = 0;
  uint32_t minor = 0;

  auto operator<=>(const DeviceNumber&) const = default;
};

// Bytes since the control group was created.
struct IoCount {
  double read = 0;
  double written = 0;

  bool operator==(const IoCount&) const = default;
};

using IoCounts = std::map<DeviceNumber, IoCount>;

// Parses "8:16".
std::optional<DeviceNumber> ParseDevice(std::string_view text);
// Parses io.stat: "8:16 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0".
IoCounts ParseIoStat(std::string_view stat);
// Parses blkio.throttle.io_service_bytes: "8:16 Read 4096".
IoCounts ParseThrottledIo(std::string_view bytes);

}  // namespace synergy::nodeagent
