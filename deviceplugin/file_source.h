#pragma once

// GPUs as an inventory file tells them (config/inventory_file.h). An edit is seen within moments.
//
// Threading, failures: as DeviceSource says. A file that cannot be read or is wrong is an error
// that says so; it never takes devices away.

#include <string>

#include "deviceplugin/device_source.h"
#include "deviceplugin/folder_watch.h"

namespace synergy::deviceplugin {

class FileSource final : public DeviceSource {
 public:
  explicit FileSource(std::string file);

  Result<Reading> Read() override;
  std::vector<XidEvent> Wait(std::chrono::milliseconds longest,
                             const std::stop_token& stop) override;
  void Wake() override { folder_.Wake(); }
  std::map<std::string, DeviceUse> ReadUse() override { return {}; }

 private:
  const std::string file_;
  FolderWatch folder_;  // a watch on the file itself would not survive its replacement
};

}  // namespace synergy::deviceplugin
