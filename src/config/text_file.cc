#include "config/text_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

namespace synergy::config {

Result<std::string> ReadTextFile(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  // A folder opens like a file but cannot be read.
  std::error_code unknown;
  if (!in || std::filesystem::is_directory(file, unknown))
    return Fail(ErrorCode::kNotFound, fmt::format("{}: cannot be read", file));
  std::stringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

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

}  // namespace synergy::config
