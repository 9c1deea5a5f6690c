#include "config/text_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

namespace synergy::config {

Result<std::string> ReadTextFile(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  // A folder opens like a file but gives nothing.
  std::error_code unknown;
  if (!in || std::filesystem::is_directory(file, unknown))
    return Fail(ErrorCode::kNotFound, fmt::format("{}: cannot be read", file));
  std::stringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

}  // namespace synergy::config
