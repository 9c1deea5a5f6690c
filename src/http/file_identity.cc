#include "http/file_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace synergy::http {

std::string FileIdentity(const std::string& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return "missing";
  return fmt::format("{}:{}:{}:{}.{}", status.st_dev, status.st_ino, status.st_size,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

}  // namespace synergy::http
