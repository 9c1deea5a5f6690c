#pragma once

// Finds the block devices that deliver what control groups read. The kernel counts a read once for
// each device that it passes: for a volume of the device mapper (LVM, encryption, stripes), an md
// array or a loop device, and again for the disk below. Only the disk counts here.
//
// Threading: any thread.

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "nodeagent/cgroups/storage/io_counts.h"

namespace synergy::nodeagent {

class BlockDevices {
 public:
  // `sys_folder`: the mount point of sysfs.
  explicit BlockDevices(std::string sys_folder) : sys_folder_(std::move(sys_folder)) {}

  // Returns the name of the disk ("nvme0n1"); nullopt for a device that is built on others, lies in
  // memory, or does not exist (any more).
  std::optional<std::string> DiskOf(const DeviceNumber& device) const;
  // Returns the number of the disk with that name; nullopt if there is none.
  std::optional<DeviceNumber> NumberOf(const std::string& disk) const;
  // Returns what was read from disks and written to them, by name.
  std::map<std::string, IoCount> OfDisks(const IoCounts& counts) const;

 private:
  const std::string sys_folder_;
};

}  // namespace synergy::nodeagent
