#include "config/text_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace synergy::config {
namespace {

std::string UnfinishedOf(const std::string& file) { return file + ".unfinished"; }

tl::unexpected<Error> CannotWrite(const std::string& file, const std::string& why) {
  return Fail(ErrorCode::kUnavailable, fmt::format("{} cannot be written: {}", file, why));
}

}  // namespace

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
  const std::string unfinished = UnfinishedOf(file);
  {
    std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out) return Fail(ErrorCode::kUnavailable, unfinished + " cannot be written");
  }
  std::filesystem::rename(unfinished, file, error);
  if (error) return CannotWrite(file, error.message());
  return {};
}

Result<> WritePrivateFile(const std::string& file, std::string_view text) {
  // Set the permissions first, because a process that opened the file earlier would keep its
  // access.
  const std::string unfinished = UnfinishedOf(file);
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
  std::filesystem::remove(unfinished, ignored);
  const int created =
      ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (created < 0) return CannotWrite(file, std::system_category().message(errno));
  ::close(created);
  return WriteWholeFile(file, text);
}

}  // namespace synergy::config
