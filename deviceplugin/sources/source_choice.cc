#include "deviceplugin/sources/source_choice.h"

#include "deviceplugin/sources/file_source.h"
#include "deviceplugin/sources/nvml_api.h"
#include "deviceplugin/sources/nvml_source.h"

namespace synergy::deviceplugin {

Result<std::unique_ptr<DeviceSource>> MakeSource(const config::DevicePluginConfig& config,
                                                 const Clock& clock) {
  const bool file = config.source == config::GpuSource::kFile ||
                    (config.source == config::GpuSource::kAuto && !config.inventory_file.empty());
  if (file) return std::make_unique<FileSource>(config.inventory_file);
  if (!config.wait_for_nvml) {
    const auto library = nvml::NvmlApi::Load(config.nvml_library);
    if (!library) return Fail(library.error());
  }
  NvmlOptions options;
  options.library = config.nvml_library;
  return std::make_unique<NvmlSource>(options, clock);
}

}  // namespace synergy::deviceplugin
