#include "nodeagent/cgroups/storage/block_devices.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "core/result.h"
#include "nodeagent/cgroups/cgroup_files.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

// Longest name in the kernel (DISK_NAME_LEN).
constexpr size_t kLongestName = 32;

bool HasEntries(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  return !error && entries != fs::directory_iterator();
}

}  // namespace

std::optional<std::string> BlockDevices::DiskOf(const DeviceNumber& device) const {
  const fs::path link = fmt::format("{}/dev/block/{}:{}", sys_folder_, device.major, device.minor);
  std::error_code error;
  // ../../devices/pci0000:00/.../block/sda, and for a partition .../block/sda/sda1.
  fs::path target = fs::read_symlink(link, error);
  if (error) return std::nullopt;
  if (fs::exists(link / "partition", error)) target = target.parent_path();
  const std::string name = target.filename();
  const bool stands_on_others = HasEntries(link / "slaves") || fs::exists(link / "loop", error);
  const bool in_memory = name.starts_with("ram") || name.starts_with("zram");
  if (stands_on_others || in_memory || name.empty() || name.size() > kLongestName)
    return std::nullopt;
  return name;
}

std::optional<DeviceNumber> BlockDevices::NumberOf(const std::string& disk) const {
  const Result<std::string> number =
      ReadCgroupFile(fmt::format("{}/block/{}/dev", sys_folder_, disk));
  return number ? ParseDevice(std::string_view(*number).substr(0, number->find('\n')))
                : std::nullopt;
}

std::map<std::string, IoCount> BlockDevices::OfDisks(const IoCounts& counts) const {
  std::map<std::string, IoCount> disks;
  for (const auto& [device, count] : counts) {
    const std::optional<std::string> name = DiskOf(device);
    if (!name) continue;
    IoCount& disk = disks[*name];
    disk.read += count.read;
    disk.written += count.written;
  }
  return disks;
}

}  // namespace synergy::nodeagent
