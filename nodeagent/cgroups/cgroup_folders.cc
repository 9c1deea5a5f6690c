#include "nodeagent/cgroups/cgroup_folders.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "nodeagent/cgroups/cgroup_paths.h"

namespace synergy::nodeagent {

namespace fs = std::filesystem;

Result<std::string> CgroupFolders::OfPod(const wire::ResizeStatus& pod) const {
  const auto folders = PodFolders(kubelet_cgroup_root_, pod.qos_class, pod.uid);
  if (!folders) return Fail(folders.error());
  for (const std::string& folder : *folders) {
    std::error_code error;
    if (fs::is_directory(hierarchy_ + folder, error)) return hierarchy_ + folder;
  }
  return Fail(ErrorCode::kNotFound, fmt::format("there is neither {0}{1} nor {0}{2}", hierarchy_,
                                                folders->front(), folders->back()));
}

Result<std::string> CgroupFolders::OfContainer(
    const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container) const {
  const Result<std::string> folder = OfPod(pod);
  if (!folder) return folder;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(*folder, error)) {
    // A symbolic link could lead out of the pod; control groups have none.
    if (entry.symlink_status(error).type() != fs::file_type::directory) continue;
    if (IsContainerFolder(entry.path().filename().string(), container.id))
      return entry.path().string();
  }
  return Fail(ErrorCode::kNotFound,
              fmt::format("{} has no control group of {}", *folder, container.id));
}

}  // namespace synergy::nodeagent
