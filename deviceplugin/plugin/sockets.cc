#include "deviceplugin/plugin/sockets.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <random>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace synergy::deviceplugin {
namespace {

constexpr std::string_view kSuffix = ".sock";

std::string SocketPrefix(std::string resource) {
  std::replace(resource.begin(), resource.end(), '/', '_');
  return "synergy-" + resource;
}

std::string WithNumber(const std::string& resource, uint32_t number) {
  return fmt::format("{}-{:08x}{}", SocketPrefix(resource), number, kSuffix);
}

}  // namespace

std::optional<FileIdentity> IdentifySocket(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return std::nullopt;
  constexpr int64_t kNanoseconds = 1'000'000'000;
  return FileIdentity{status.st_dev, status.st_ino,
                      status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec};
}

bool IsServed(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof(address.sun_path)) return false;
  path.copy(address.sun_path, path.size());
  // A listener whose queue is full must not delay the caller.
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int refused = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const bool served = refused == 0 || errno == EAGAIN;
  close(probe);
  return served;
}

std::vector<std::string> ServedSockets(const std::string& folder) {
  std::vector<std::string> served;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename();
    if (name != kKubeletSocket && IdentifySocket(entry.path()) && IsServed(entry.path()))
      served.push_back(name);
  }
  std::sort(served.begin(), served.end());
  return served;
}

std::string MakeSocketName(const std::string& resource) {
  std::random_device random;
  return WithNumber(resource, static_cast<uint32_t>(random()));
}

bool IsSocketNameFor(const std::string& name, const std::string& resource) {
  const std::string prefix = SocketPrefix(resource);
  return name == prefix + std::string(kSuffix) ||
         (name.size() == WithNumber(resource, 0).size() && name.starts_with(prefix + "-") &&
          name.ends_with(kSuffix));
}

}  // namespace synergy::deviceplugin
