#include "nodeagent/memory_groups.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "nodeagent/cgroup_files.h"
#include "nodeagent/cgroup_paths.h"
#include "nodeagent/v1_memory_group.h"
#include "nodeagent/v2_memory_group.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

enum class Version { kV1, kV2 };

class KernelMemoryGroups final : public MemoryGroups {
 public:
  KernelMemoryGroups(Version version, std::string hierarchy, std::string kubelet_cgroup_root)
      : version_(version),
        hierarchy_(std::move(hierarchy)),
        kubelet_cgroup_root_(std::move(kubelet_cgroup_root)) {}

  Result<std::unique_ptr<MemoryGroup>> OfPod(const wire::ResizeStatus& pod) override {
    const Result<std::string> folder = PodFolder(pod);
    if (!folder) return Fail(folder.error());
    return Open(*folder);
  }

  Result<std::unique_ptr<MemoryGroup>> OfContainer(
      const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container) override {
    const Result<std::string> folder = PodFolder(pod);
    if (!folder) return Fail(folder.error());
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(*folder, error)) {
      // A symbolic link could lead out of the pod; control groups have none.
      if (entry.symlink_status(error).type() != fs::file_type::directory) continue;
      if (IsContainerFolder(entry.path().filename().string(), container.id))
        return Open(entry.path().string());
    }
    return Fail(ErrorCode::kNotFound,
                fmt::format("{} has no control group of {}", *folder, container.id));
  }

 private:
  Result<std::string> PodFolder(const wire::ResizeStatus& pod) const {
    const auto folders = PodFolders(kubelet_cgroup_root_, pod.qos_class, pod.uid);
    if (!folders) return Fail(folders.error());
    for (const std::string& folder : *folders) {
      std::error_code error;
      if (fs::is_directory(hierarchy_ + folder, error)) return hierarchy_ + folder;
    }
    return Fail(ErrorCode::kNotFound, fmt::format("there is neither {0}{1} nor {0}{2}", hierarchy_,
                                                  folders->front(), folders->back()));
  }

  Result<std::unique_ptr<MemoryGroup>> Open(const std::string& folder) const {
    if (version_ == Version::kV1) return std::make_unique<V1MemoryGroup>(folder);
    return std::make_unique<V2MemoryGroup>(folder, "/proc");
  }

  const Version version_;
  const std::string hierarchy_;
  const std::string kubelet_cgroup_root_;
};

}  // namespace

Result<std::unique_ptr<MemoryGroups>> FindMemoryGroups(std::string cgroup_folder,
                                                       std::string kubelet_cgroup_root) {
  const auto make = [&](Version version, std::string hierarchy) {
    return std::make_unique<KernelMemoryGroups>(version, std::move(hierarchy),
                                                std::move(kubelet_cgroup_root));
  };
  std::error_code error;
  const std::string v1 = cgroup_folder + "/memory";
  // Where both are mounted (systemd's hybrid), the memory controller is in one of them only.
  if (fs::exists(v1 + "/memory.usage_in_bytes", error)) return make(Version::kV1, v1);
  const Result<std::string> controllers = ReadCgroupFile(cgroup_folder + "/cgroup.controllers");
  if (controllers && controllers->find("memory") != std::string::npos)
    return make(Version::kV2, cgroup_folder);
  return Fail(ErrorCode::kNotFound,
              fmt::format("{}: no memory controller of cgroup v1 or v2 is here", cgroup_folder));
}

}  // namespace synergy::nodeagent
