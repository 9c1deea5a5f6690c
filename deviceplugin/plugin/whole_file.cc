#include "deviceplugin/plugin/whole_file.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace synergy::deviceplugin {

Result<> WriteWholeFile(const std::string& file, std::string_view text) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
  const std::string unfinished = file + ".unfinished";
  {
    std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out) return Fail(ErrorCode::kUnavailable, unfinished + " cannot be written");
  }
  std::filesystem::rename(unfinished, file, error);
  if (error) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{} cannot be written: {}", file, error.message()));
  }
  return {};
}

}  // namespace synergy::deviceplugin
