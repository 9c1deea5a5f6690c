#include "nodeagent/cgroups/cgroup_folders.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace synergy::nodeagent {
namespace {

bool IsPlain(std::string_view text, std::string_view also) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [also](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           also.find(c) != std::string_view::npos;
  });
}

std::vector<std::string> NamesOfAll(std::string_view kubelet_cgroup_root) {
  std::vector<std::string> names;
  while (!kubelet_cgroup_root.empty()) {
    const size_t end = kubelet_cgroup_root.find('/');
    if (end != 0) names.emplace_back(kubelet_cgroup_root.substr(0, end));
    kubelet_cgroup_root.remove_prefix(end == std::string_view::npos ? kubelet_cgroup_root.size()
                                                                    : end + 1);
  }
  names.emplace_back("kubepods");
  return names;
}

std::vector<std::string> Names(std::string_view kubelet_cgroup_root, wire::QosClass qos_class,
                               std::string_view uid) {
  std::vector<std::string> names = NamesOfAll(kubelet_cgroup_root);
  if (qos_class == wire::QosClass::kBurstable) names.emplace_back("burstable");
  if (qos_class == wire::QosClass::kBestEffort) names.emplace_back("besteffort");
  names.push_back(fmt::format("pod{}", uid));
  return names;
}

// Returns the path under systemd's driver. systemd separates levels by dashes, so dashes in names
// become underscores.
std::string SystemdPath(const std::vector<std::string>& names) {
  std::string path;
  std::string slice;
  for (std::string name : names) {
    std::replace(name.begin(), name.end(), '-', '_');
    slice += slice.empty() ? name : "-" + name;
    path += "/" + slice + ".slice";
  }
  return path;
}

// Returns the path under each of the two drivers.
std::vector<std::string> PathsOf(const std::vector<std::string>& names) {
  std::string cgroupfs;
  for (const std::string& name : names) cgroupfs += "/" + name;
  return {cgroupfs, SystemdPath(names)};
}

}  // namespace

Result<std::vector<std::string>> PodFolders(std::string_view kubelet_cgroup_root,
                                            wire::QosClass qos_class, std::string_view uid) {
  if (!IsPlain(uid, "-"))
    return Fail(ErrorCode::kInvalid, fmt::format("\"{}\" is not a pod's UID", uid));
  return PathsOf(Names(kubelet_cgroup_root, qos_class, uid));
}

std::vector<std::string> FoldersOfAllPods(std::string_view kubelet_cgroup_root) {
  return PathsOf(NamesOfAll(kubelet_cgroup_root));
}

bool IsContainerFolder(std::string_view folder, std::string_view container_id) {
  constexpr std::string_view kScheme = "://";
  const size_t scheme = container_id.find(kScheme);
  if (scheme != std::string_view::npos) container_id.remove_prefix(scheme + kScheme.size());
  if (!IsPlain(container_id, "")) return false;
  // Allow only exact names, because the pod's folder may also contain CRI-O's monitor,
  // crio-conmon-ID.scope.
  constexpr std::string_view kRuntimes[] = {"", "cri-containerd-", "crio-", "docker-"};
  return std::any_of(std::begin(kRuntimes), std::end(kRuntimes), [&](std::string_view runtime) {
    const std::string name = fmt::format("{}{}", runtime, container_id);
    return folder == name || folder == name + ".scope";
  });
}

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
    // A symbolic link could lead out of the pod; control groups contain none.
    if (entry.symlink_status(error).type() != fs::file_type::directory) continue;
    if (IsContainerFolder(entry.path().filename().string(), container.id))
      return entry.path().string();
  }
  return Fail(ErrorCode::kNotFound,
              fmt::format("{} has no control group of {}", *folder, container.id));
}

}  // namespace synergy::nodeagent
