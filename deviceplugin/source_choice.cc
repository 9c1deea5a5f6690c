#include "deviceplugin/source_choice.h"

#include "deviceplugin/file_source.h"

namespace synergy::deviceplugin {

Result<std::unique_ptr<DeviceSource>> MakeSource(const config::DevicePluginConfig& config) {
  const bool file = config.source == config::GpuSource::kFile ||
                    (config.source == config::GpuSource::kAuto && !config.inventory_file.empty());
  if (file) return std::make_unique<FileSource>(config.inventory_file);
  return Fail(ErrorCode::kInvalid, "NVML is not supported yet");
}

}  // namespace synergy::deviceplugin
