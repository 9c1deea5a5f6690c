#pragma once

// Reads GPUs from an inventory file (config/inventory_file.h). It notices an edit within moments.
//
// Threading and failures: the same as DeviceSource. An unreadable or invalid file gives a
// descriptive error, but never removes devices.

#include <atomic>
#include <cstdint>
#include <string>

#include "deviceplugin/sources/device_source.h"
#include "deviceplugin/sources/folder_watch.h"

namespace synergy::deviceplugin {

class FileSource final : public DeviceSource {
 public:
  explicit FileSource(std::string file);

  Result<Reading> Read() override;
  std::vector<XidEvent> Wait(std::chrono::milliseconds longest,
                             const std::stop_token& stop) override;
  void Wake() override;
  std::map<std::string, DeviceUse> ReadUse() override { return {}; }

 private:
  // Identifies the content of the file without reading it.
  struct Version {
    uint64_t device = 0;
    uint64_t inode = 0;
    int64_t modified = 0;
    int64_t size = -1;

    bool operator==(const Version&) const = default;
  };
  Version Look() const;

  const std::string file_;
  FolderWatch folder_;  // a watch on the file itself would end when it is replaced
  Version read_;
  std::atomic<bool> woken_ = false;
};

}  // namespace synergy::deviceplugin
