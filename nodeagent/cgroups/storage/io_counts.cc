#include "nodeagent/cgroups/storage/io_counts.h"

#include <charconv>
#include <system_error>

namespace synergy::nodeagent {
namespace {

// Removes the beginning of `text` up to and including `end`, and returns it without `end`. Takes
// all of `text` if `end` is missing.
std::string_view TakeUntil(std::string_view& text, char end) {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(taken.size() < text.size() ? taken.size() + 1 : taken.size());
  return taken;
}

template <class Number>
std::optional<Number> AllOf(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Calls take(device, rest of the line) for each complete line that begins with a device. The last
// line may be truncated in the middle of a number.
template <class Take>
void ForEachLine(std::string_view text, const Take& take) {
  while (text.find('\n') != std::string_view::npos) {
    std::string_view line = TakeUntil(text, '\n');
    if (const auto device = ParseDevice(TakeUntil(line, ' '))) take(*device, line);
  }
}

// Returns the device's count; null if there are too many devices.
IoCount* CountOf(IoCounts& counts, const DeviceNumber& device) {
  if (counts.size() >= kMostDevices && !counts.contains(device)) return nullptr;
  return &counts[device];
}

}  // namespace

std::optional<DeviceNumber> ParseDevice(std::string_view text) {
  const std::string_view major = TakeUntil(text, ':');
  const auto first = AllOf<uint32_t>(major);
  const auto second = AllOf<uint32_t>(text);
  if (!first || !second) return std::nullopt;
  return DeviceNumber{*first, *second};
}

IoCounts ParseIoStat(std::string_view stat) {
  IoCounts counts;
  ForEachLine(stat, [&](const DeviceNumber& device, std::string_view fields) {
    std::optional<uint64_t> read;
    std::optional<uint64_t> written;
    while (!fields.empty()) {
      std::string_view value = TakeUntil(fields, ' ');
      const std::string_view name = TakeUntil(value, '=');
      if (name == "rbytes") read = AllOf<uint64_t>(value);
      if (name == "wbytes") written = AllOf<uint64_t>(value);
    }
    if (!read || !written) return;
    IoCount* const count = CountOf(counts, device);
    if (count != nullptr) *count = {static_cast<double>(*read), static_cast<double>(*written)};
  });
  return counts;
}

IoCounts ParseThrottledIo(std::string_view bytes) {
  IoCounts counts;
  ForEachLine(bytes, [&](const DeviceNumber& device, std::string_view rest) {
    const std::string_view direction = TakeUntil(rest, ' ');
    const auto amount = AllOf<uint64_t>(rest);
    if (!amount || (direction != "Read" && direction != "Write")) return;
    IoCount* const count = CountOf(counts, device);
    if (count == nullptr) return;
    (direction == "Read" ? count->read : count->written) = static_cast<double>(*amount);
  });
  return counts;
}

}  // namespace synergy::nodeagent
