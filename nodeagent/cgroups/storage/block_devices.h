#pragma once

// Finds the disks that serve the reads of control groups. The kernel counts a read once for each
// device that it passes: for a volume of the device mapper (LVM, encryption, stripes), an md array
// or a loop device, and again for the disk below. BlockDevices counts it only for the disk.
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

  // Returns the name of the disk ("nvme0n1"); nullopt if the device is built on other devices, is
  // in memory, or does not exist.
  std::optional<std::string> DiskOf(const DeviceNumber& device) const;
  // Returns the number of the disk with that name; nullopt if there is none.
  std::optional<DeviceNumber> NumberOf(const std::string& disk) const;
  // Returns the counts of disks only, by name.
  std::map<std::string, IoCount> OfDisks(const IoCounts& counts) const;

 private:
  const std::string sys_folder_;
};

}  // namespace synergy::nodeagent
