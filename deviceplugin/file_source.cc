#include "deviceplugin/file_source.h"

#include <filesystem>
#include <stop_token>
#include <utility>

#include "config/inventory_file.h"

namespace synergy::deviceplugin {
namespace {

std::string FolderOf(const std::string& file) {
  const std::string folder = std::filesystem::path(file).parent_path();
  return folder.empty() ? "." : folder;
}

}  // namespace

FileSource::FileSource(std::string file) : file_(std::move(file)), folder_(FolderOf(file_)) {}

Result<Reading> FileSource::Read() {
  Result<config::InventoryFile> file = config::LoadInventoryFile(file_);
  if (!file) return Fail(file.error());
  Reading reading;
  reading.inventory = std::move(file->inventory);
  for (const inventory::Gpu& gpu : reading.inventory.gpus()) {
    const auto why = file->unhealthy.find(gpu.uuid);
    reading.probes[gpu.uuid].fault = why == file->unhealthy.end() ? std::string() : why->second;
  }
  return reading;
}

std::vector<XidEvent> FileSource::Wait(std::chrono::milliseconds longest,
                                       const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { folder_.Wake(); });
  folder_.Wait(longest);
  return {};
}

}  // namespace synergy::deviceplugin
