#include "nodeagent/memory/memory_groups.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "nodeagent/cgroups/cgroup_files.h"
#include "nodeagent/cgroups/cgroup_folders.h"
#include "nodeagent/memory/v1_memory_group.h"
#include "nodeagent/memory/v2_memory_group.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

enum class Version { kV1, kV2 };

class KernelMemoryGroups final : public MemoryGroups {
 public:
  KernelMemoryGroups(Version version, std::string hierarchy, std::string kubelet_cgroup_root)
      : version_(version), folders_(std::move(hierarchy), std::move(kubelet_cgroup_root)) {}

  Result<std::unique_ptr<MemoryGroup>> OfPod(const wire::ResizeStatus& pod) override {
    return Open(folders_.OfPod(pod));
  }

  Result<std::unique_ptr<MemoryGroup>> OfContainer(
      const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container) override {
    return Open(folders_.OfContainer(pod, container));
  }

 private:
  Result<std::unique_ptr<MemoryGroup>> Open(const Result<std::string>& folder) const {
    if (!folder) return Fail(folder.error());
    if (version_ == Version::kV1) return std::make_unique<V1MemoryGroup>(*folder);
    return std::make_unique<V2MemoryGroup>(*folder, "/proc");
  }

  const Version version_;
  const CgroupFolders folders_;
};

}  // namespace

std::string MemoryHierarchy(const std::string& cgroup_folder) {
  std::error_code error;
  const std::string v1 = cgroup_folder + "/memory";
  // If both are mounted (systemd's hybrid), only one of them has the memory controller.
  return fs::exists(v1 + "/memory.usage_in_bytes", error) ? v1 : cgroup_folder;
}

Result<std::unique_ptr<MemoryGroups>> FindMemoryGroups(std::string cgroup_folder,
                                                       std::string kubelet_cgroup_root) {
  const auto make = [&](Version version, std::string hierarchy) {
    return std::make_unique<KernelMemoryGroups>(version, std::move(hierarchy),
                                                std::move(kubelet_cgroup_root));
  };
  const std::string hierarchy = MemoryHierarchy(cgroup_folder);
  if (hierarchy != cgroup_folder) return make(Version::kV1, hierarchy);
  const Result<std::string> controllers = ReadCgroupFile(cgroup_folder + "/cgroup.controllers");
  if (controllers && controllers->find("memory") != std::string::npos)
    return make(Version::kV2, cgroup_folder);
  return Fail(
      ErrorCode::kNotFound,
      fmt::format("{}: there is no memory controller of control groups v1 or v2", cgroup_folder));
}

}  // namespace synergy::nodeagent
