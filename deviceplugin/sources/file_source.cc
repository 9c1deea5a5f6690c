#include "deviceplugin/sources/file_source.h"

#include <filesystem>
#include <stop_token>
#include <utility>

#include <sys/stat.h>

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
  read_ = Look();
  Result<config::InventoryFile> file = config::LoadInventoryFile(file_);
  if (!file) return Fail(file.error());
  Reading reading;
  reading.inventory = std::move(file->inventory);
  for (const Gpu& gpu : reading.inventory.gpus()) {
    const auto why = file->unhealthy.find(gpu.uuid);
    reading.probes[gpu.uuid].fault = why == file->unhealthy.end() ? std::string() : why->second;
  }
  return reading;
}

FileSource::Version FileSource::Look() const {
  struct stat status = {};
  if (stat(file_.c_str(), &status) != 0) return {};
  constexpr int64_t kNanoseconds = 1'000'000'000;
  return {status.st_dev, status.st_ino,
          status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec, status.st_size};
}

// Ignores changes of other files in the folder, which may be frequent.
std::vector<XidEvent> FileSource::Wait(std::chrono::milliseconds longest,
                                       const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { folder_.Wake(); });
  const auto deadline = std::chrono::steady_clock::now() + longest;
  while (!stop.stop_requested() && !woken_.exchange(false) && Look() == read_) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    folder_.Wait(left);
  }
  return {};
}

void FileSource::Wake() {
  woken_ = true;
  folder_.Wake();
}

}  // namespace synergy::deviceplugin
