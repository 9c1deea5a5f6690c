#include "nodeagent/guarded/freezer.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "nodeagent/cgroups/cgroup_files.h"
#include "nodeagent/cgroups/cgroup_folders.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

// One version of control groups.
template <class Version>
class GroupFreezers final : public Freezers {
 public:
  GroupFreezers(std::string hierarchy, std::string kubelet_cgroup_root)
      : folders_(std::move(hierarchy), std::move(kubelet_cgroup_root)) {}

  Result<PlannedSuspension> Plan(const wire::ResizeStatus& pod,
                                 const wire::ResizeStatus::Container& container) override {
    const Result<std::string> folder = folders_.OfContainer(pod, container);
    if (!folder) return Fail(folder.error());
    return PlannedSuspension{*folder + Version::kFile, Version::kText};
  }
  Result<bool> IsFrozen(const std::string& file) override {
    const std::string state =
        file.substr(0, file.size() - std::string_view(Version::kFile).size()) + Version::kState;
    const Result<std::string> text = ReadCgroupFile(state);
    if (!text) return Fail(text.error());
    return text->find(Version::kFrozen) != std::string::npos;
  }

 private:
  const CgroupFolders folders_;
};

struct FreezerV2 {
  static constexpr const char* kFile = "/cgroup.freeze";
  static constexpr const char* kText = "1";
  static constexpr const char* kState = "/cgroup.events";
  static constexpr const char* kFrozen = "frozen 1";
};
struct FreezerV1 {
  static constexpr const char* kFile = "/freezer.state";
  static constexpr const char* kText = "FROZEN";
  static constexpr const char* kState = kFile;
  static constexpr const char* kFrozen = "FROZEN";
};

}  // namespace

Result<std::unique_ptr<Freezers>> FindFreezers(std::string cgroup_folder,
                                               std::string kubelet_cgroup_root) {
  std::error_code error;
  if (fs::is_directory(cgroup_folder + "/freezer", error)) {
    return std::make_unique<GroupFreezers<FreezerV1>>(cgroup_folder + "/freezer",
                                                      std::move(kubelet_cgroup_root));
  }
  if (fs::exists(cgroup_folder + "/cgroup.controllers", error)) {
    return std::make_unique<GroupFreezers<FreezerV2>>(std::move(cgroup_folder),
                                                      std::move(kubelet_cgroup_root));
  }
  return Fail(ErrorCode::kNotFound,
              fmt::format("{}: there is no freezer of control groups v1 or v2", cgroup_folder));
}

}  // namespace synergy::nodeagent
