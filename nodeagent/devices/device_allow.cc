#include "nodeagent/devices/device_allow.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "nodeagent/cgroups/cgroup_files.h"
#include "nodeagent/cgroups/cgroup_folders.h"
#include "nodeagent/memory/memory_groups.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

// Device numbers that Linux assigns (Documentation/admin-guide/devices.txt).
constexpr int kNvidia = 195;
constexpr int kNvidiaControl = 255;  // /dev/nvidiactl
constexpr int kNvidiaModeset = 254;
constexpr int kDrm = 226;
constexpr int kFirstRenderNode = 128;

std::optional<int> ParseNumber(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string_view> Split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = text.find_first_not_of(separators);
    if (begin == std::string_view::npos) return words;
    const size_t end = std::min(text.find_first_of(separators, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

// The DeviceAllow entries of a unit that allow reading and writing character devices.
class Allowed {
 public:
  void Clear() { *this = {}; }

  // Parses an entry, such as "/dev/char/195:0 rwm" or "char-* m".
  void Add(std::string_view entry) {
    const std::vector<std::string_view> words = Split(entry, " \t");
    const std::string_view access = words.size() > 1 ? words[1] : "rwm";
    if (words.empty() || access.find('r') == std::string_view::npos ||
        access.find('w') == std::string_view::npos) {
      return;
    }
    std::string_view what = words.front();
    if (what == "char-*") all_ = true;
    constexpr std::string_view kNumbered = "/dev/char/";
    if (!what.starts_with(kNumbered)) return;
    const std::vector<std::string_view> numbers = Split(what.substr(kNumbered.size()), ":");
    if (numbers.size() != 2) return;
    const auto major = ParseNumber(numbers[0]);
    const auto minor = ParseNumber(numbers[1]);
    if (major && minor) devices_.insert({*major, *minor});
  }

  bool Has(int major, int least_minor, int last_minor) const {
    const auto found = devices_.lower_bound({major, least_minor});
    return all_ ||
           (found != devices_.end() && found->first == major && found->second <= last_minor);
  }
  bool Has(int major, int minor) const { return Has(major, minor, minor); }
  bool HasAnyOf(const std::set<int>& majors) const {
    return majors.empty() ||
           std::any_of(majors.begin(), majors.end(), [this](int major) { return Has(major, 0); });
  }

 private:
  bool all_ = false;
  std::set<std::pair<int, int>> devices_;
};

// Reads the values of a unit's files as systemd does: an empty value clears the earlier ones.
Allowed ReadAllowed(std::span<const std::string> unit_files) {
  constexpr std::string_view kKey = "DeviceAllow=";
  Allowed allowed;
  for (const std::string& file : unit_files) {
    for (const std::string_view line : Split(file, "\n")) {
      if (!line.starts_with(kKey)) continue;
      const std::string_view value = line.substr(kKey.size());
      value.empty() ? allowed.Clear() : allowed.Add(value);
    }
  }
  return allowed;
}

// How long a runtime may take to write all drop-ins of a new scope.
constexpr std::chrono::seconds kWriting{1};

// The unit's own file and its drop-ins, in systemd's order.
struct UnitFiles {
  std::vector<std::string> texts;
  // Whether a drop-in is newer than the device list. A runtime writes the list when it creates the
  // container, and a resize adds drop-ins but does not write the list again.
  bool resized = false;
};

UnitFiles ReadUnit(const std::string& folder, const std::string& unit) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder + "/" + unit + ".d", error)) {
    if (entry.path().extension() == ".conf") names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());
  names.insert(names.begin(), folder + "/" + unit);
  UnitFiles files;
  std::optional<fs::file_time_type> begun;
  fs::file_time_type changed = fs::file_time_type::min();
  for (const std::string& name : names) {
    if (Result<std::string> text = ReadCgroupFile(name)) files.texts.push_back(*std::move(text));
    const fs::file_time_type written = fs::last_write_time(name, error);
    if (error) continue;
    if (name.ends_with("-DeviceAllow.conf")) begun = written;
    changed = std::max(changed, written);
  }
  files.resized = begun && changed > *begun + kWriting;
  return files;
}

// Returns whether the agent recognises the node's GPUs (JudgeScope()).
bool KnowsGpus(std::string_view gpu_resource, const GpuMajors& majors) {
  return gpu_resource.starts_with("nvidia.com/") || gpu_resource.starts_with("amd.com/") ||
         majors.nvidia || !majors.kfd.empty();
}

class KernelDeviceGroups final : public DeviceGroups {
 public:
  KernelDeviceGroups(bool v1, std::string hierarchy, std::string kubelet_cgroup_root,
                     std::string unit_folder, std::string gpu_resource)
      : v1_(v1),
        folders_(std::move(hierarchy), std::move(kubelet_cgroup_root)),
        unit_folder_(std::move(unit_folder)),
        gpu_resource_(std::move(gpu_resource)) {}

  Result<DeviceReading> Read(const wire::ResizeStatus& pod,
                             const wire::ResizeStatus::Container& container) override {
    const Result<std::string> folder = folders_.OfContainer(pod, container);
    if (!folder) return Fail(folder.error());
    const std::string name = fs::path(*folder).filename().string();
    if (!name.ends_with(".scope")) {
      if (v1_) return DeviceReading{DeviceSafety::kSafe, "control groups v1 without systemd"};
      return DeviceReading{DeviceSafety::kUnknown,
                           "with control groups v2 without systemd it cannot be seen"};
    }
    const UnitFiles files = ReadUnit(unit_folder_, name);
    if (files.texts.empty()) {
      return DeviceReading{DeviceSafety::kUnknown,
                           fmt::format("systemd's files of its scope are not in {}", unit_folder_)};
    }
    const Result<std::string> devices = ReadCgroupFile("/proc/devices");
    const GpuMajors majors = devices ? ParseGpuMajors(*devices) : GpuMajors();
    DeviceReading reading = JudgeScope(files.texts, majors);
    if (reading.safety != DeviceSafety::kUnsafe) return reading;
    if (!KnowsGpus(gpu_resource_, majors))
      return DeviceReading{
          DeviceSafety::kUnknown,
          fmt::format("the node agent does not recognise the devices of {}", gpu_resource_)};
    reading.resized = files.resized;
    return reading;
  }

 private:
  const bool v1_;
  const CgroupFolders folders_;
  const std::string unit_folder_;
  const std::string gpu_resource_;
};

}  // namespace

std::unique_ptr<DeviceGroups> FindDeviceGroups(const std::string& cgroup_folder,
                                               std::string kubelet_cgroup_root,
                                               std::string unit_folder, std::string gpu_resource) {
  std::string hierarchy = MemoryHierarchy(cgroup_folder);
  const bool v1 = hierarchy != cgroup_folder;
  return std::make_unique<KernelDeviceGroups>(v1, std::move(hierarchy),
                                              std::move(kubelet_cgroup_root),
                                              std::move(unit_folder), std::move(gpu_resource));
}

GpuMajors ParseGpuMajors(std::string_view proc_devices) {
  GpuMajors majors;
  for (const std::string_view line : Split(proc_devices, "\n")) {
    if (line.starts_with("Block")) break;
    const std::vector<std::string_view> words = Split(line, " ");
    if (words.size() != 2) continue;
    const std::optional<int> major = ParseNumber(words[0]);
    if (!major) continue;
    if (*major == kNvidia) majors.nvidia = true;
    if (words[1] == "nvidia-uvm") majors.nvidia_uvm.insert(*major);
    if (words[1] == "kfd") majors.kfd.insert(*major);
  }
  return majors;
}

DeviceReading JudgeScope(std::span<const std::string> unit_files, const GpuMajors& majors) {
  const Allowed allowed = ReadAllowed(unit_files);
  if (allowed.Has(kNvidia, 0, kNvidiaModeset - 1)) {
    if (allowed.Has(kNvidia, kNvidiaControl) && allowed.HasAnyOf(majors.nvidia_uvm))
      return {DeviceSafety::kSafe, "the scope of its container lists its GPUs"};
    return {DeviceSafety::kUnsafe,
            "the scope of its container lists GPUs without /dev/nvidiactl or /dev/nvidia-uvm"};
  }
  if (allowed.Has(kDrm, kFirstRenderNode, 255) && allowed.HasAnyOf(majors.kfd))
    return {DeviceSafety::kSafe, "the scope of its container lists its GPUs"};
  return {DeviceSafety::kUnsafe,
          "the scope of its container lists no GPU: it was given behind the runtime's back"};
}

}  // namespace synergy::nodeagent
