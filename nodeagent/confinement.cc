#include "nodeagent/confinement.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nodeagent/cgroups/cgroup_folders.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

// Rights that later Landlock versions added, each with its version.
constexpr uint64_t kRefer = uint64_t{1} << 13;     // 2
constexpr uint64_t kTruncate = uint64_t{1} << 14;  // 3
constexpr uint64_t kWrites = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                             LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                             LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                             LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                             LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

class Descriptor {
 public:
  explicit Descriptor(int64_t fd) : fd_(static_cast<int>(fd)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Error SystemError(ErrorCode code, const std::string& what) {
  return {code, fmt::format("{}: {}", what, std::strerror(errno))};
}

// Returns the version of the kernel's Landlock interface; 0 if the kernel has none.
int64_t LandlockVersion() {
  const int64_t version =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 0 ? 0 : version;
}

}  // namespace

std::vector<std::string> FoldersOfPods(const std::string& cgroup_folder,
                                       const std::string& kubelet_cgroup_root) {
  std::error_code error;
  std::vector<std::string> hierarchies = {cgroup_folder};
  for (const char* v1 : {"cpu", "cpuacct", "memory", "freezer"})
    hierarchies.push_back(cgroup_folder + "/" + v1);
  std::vector<std::string> folders;
  for (const std::string& hierarchy : hierarchies) {
    for (const std::string& of_all : FoldersOfAllPods(kubelet_cgroup_root)) {
      if (fs::is_directory(hierarchy + of_all, error)) folders.push_back(hierarchy + of_all);
    }
  }
  return folders;
}

Result<> ConfineWrites(const std::vector<std::string>& folders) {
  const int64_t version = LandlockVersion();
  if (version == 0) return Fail(ErrorCode::kUnavailable, "the kernel has no Landlock");
  landlock_ruleset_attr rights{};
  rights.handled_access_fs = kWrites;
  if (version >= 2) rights.handled_access_fs |= kRefer;
  if (version >= 3) rights.handled_access_fs |= kTruncate;
  // Pass only the first member: a kernel rejects members that it does not know.
  const Descriptor ruleset(
      syscall(SYS_landlock_create_ruleset, &rights, sizeof rights.handled_access_fs, 0));
  if (ruleset.get() < 0) return Fail(SystemError(ErrorCode::kUnavailable, "Landlock"));
  for (const std::string& folder : folders) {
    const Descriptor open_folder(open(folder.c_str(), O_PATH | O_CLOEXEC | O_DIRECTORY));
    if (open_folder.get() < 0) return Fail(SystemError(ErrorCode::kNotFound, folder));
    landlock_path_beneath_attr beneath{};
    beneath.allowed_access = rights.handled_access_fs;
    beneath.parent_fd = open_folder.get();
    if (syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0)
      return Fail(SystemError(ErrorCode::kUnavailable, folder));
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return Fail(SystemError(ErrorCode::kUnavailable, "no_new_privs"));
  if (syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
    return Fail(SystemError(ErrorCode::kUnavailable, "Landlock"));
  return {};
}

}  // namespace synergy::nodeagent
