#include "deviceplugin/cdi_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "wire/gpu_inventory.h"

namespace synergy::deviceplugin {
namespace {

std::string FileName(std::string kind) {
  std::replace(kind.begin(), kind.end(), '/', '-');
  return kind + ".json";
}

}  // namespace

CdiFile::CdiFile(const std::string& folder, std::string kind)
    : folder_(folder), kind_(std::move(kind)), file_(folder_ + "/" + FileName(kind_)) {}

CdiFile::~CdiFile() {
  if (written_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

Result<> CdiFile::Write(const GpuInventory& inventory) {
  std::vector<wire::CdiDevice> devices;
  for (const Gpu& gpu : inventory.gpus()) {
    wire::CdiDevice device{gpu.uuid, gpu.device_nodes};
    for (const std::string& path : inventory.shared_device_nodes)
      device.device_nodes.push_back(path);
    devices.push_back(std::move(device));
  }
  const std::string text = wire::WriteCdiSpec(kind_, devices);
  if (text == written_) return {};
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  // Runtimes read every *.json of the folder: a file that is not whole must not be called so.
  const std::string unfinished = file_ + ".unfinished";
  {
    std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out) return Fail(ErrorCode::kUnavailable, unfinished + " cannot be written");
  }
  std::filesystem::rename(unfinished, file_, error);
  if (error) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{} cannot be written: {}", file_, error.message()));
  }
  written_ = text;
  return {};
}

}  // namespace synergy::deviceplugin
