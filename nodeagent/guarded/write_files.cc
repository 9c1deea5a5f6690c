#include "nodeagent/guarded/write_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/cgroups/cgroup_files.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

std::optional<KeptWrite> ParseLine(std::string_view line) {
  std::array<std::string_view, 4> parts;
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t end = i + 1 < parts.size() ? line.find('\t') : line.size();
    if (end == std::string_view::npos) return std::nullopt;
    parts[i] = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  const auto& [number, former, written, file] = parts;
  KeptWrite write{std::string(file), 0, std::string(former), std::string(written)};
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), write.folder);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return write;
}

}  // namespace

std::string FormatWriteRecords(std::span<const KeptWrite> writes) {
  std::string text;
  for (const KeptWrite& write : writes)
    text += fmt::format("{}\t{}\t{}\t{}\n", write.folder, write.former, write.written, write.file);
  return text;
}

std::vector<KeptWrite> ParseWriteRecords(std::string_view text) {
  std::vector<KeptWrite> writes;
  // A last line without a newline was not written completely.
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    if (auto write = ParseLine(text.substr(0, end))) writes.push_back(*std::move(write));
    text.remove_prefix(end + 1);
  }
  return writes;
}

Result<> GroupWriteFiles::Lock() {
  if (lock_) return {};
  std::error_code error;
  fs::create_directories(state_folder_, error);
  const std::string file = state_folder_ + "/lock";
  auto lock = std::make_unique<OpenFile>(file, O_RDWR | O_CREAT, 0600);
  if (lock->fd() < 0) return Fail(CgroupError(file, errno));
  if (::flock(lock->fd(), LOCK_EX | LOCK_NB) != 0)
    return Fail(ErrorCode::kConflict, fmt::format("{}: another agent has it", file));
  lock_ = std::move(lock);
  return {};
}

Result<std::vector<KeptWrite>> GroupWriteFiles::Load() const {
  const Result<std::string> text = ReadCgroupFile(state_folder_ + "/writes");
  if (text) return ParseWriteRecords(*text);
  if (text.error().code == ErrorCode::kNotFound) return std::vector<KeptWrite>();
  return Fail(text.error());
}

bool GroupWriteFiles::Suspends() const {
  std::error_code error;
  return fs::exists(state_folder_ + "/suspends", error);
}

Result<> GroupWriteFiles::SetSuspends(bool suspends) {
  const std::string file = state_folder_ + "/suspends";
  if (suspends) {
    const OpenFile made(file, O_WRONLY | O_CREAT, 0600);
    if (made.fd() < 0) return Fail(CgroupError(file, errno));
  } else if (::unlink(file.c_str()) != 0 && errno != ENOENT) {
    return Fail(CgroupError(file, errno));
  }
  return {};
}

Result<> GroupWriteFiles::Check(const std::string& file) const {
  if (file.starts_with(cgroup_folder_ + "/") &&
      file == fs::path(file).lexically_normal().string() && WriteKindOf(file) != nullptr &&
      std::none_of(file.begin(), file.end(), [](char c) { return c >= 0 && c < ' '; })) {
    return {};
  }
  return Fail(ErrorCode::kInvalid,
              fmt::format("\"{}\" is not a control-group file that is written for a time", file));
}

Result<uint64_t> GroupWriteFiles::FolderOf(const std::string& file) {
  if (const Result<> checked = Check(file); !checked) return Fail(checked.error());
  const std::string folder = fs::path(file).parent_path().string();
  struct stat found{};
  if (::stat(folder.c_str(), &found) != 0) return Fail(CgroupError(folder, errno));
  return found.st_ino;
}

Result<std::string> GroupWriteFiles::Read(const std::string& file) {
  if (const Result<> checked = Check(file); !checked) return Fail(checked.error());
  Result<std::string> text = ReadCgroupFile(file);
  if (text && text->ends_with('\n')) text->pop_back();
  return text;
}

Result<> GroupWriteFiles::Write(const std::string& file, const std::string& text) {
  if (const Result<> checked = Check(file); !checked) return Fail(checked.error());
  const Result<Written> written = WriteCgroupFile(file, text);
  if (!written) return Fail(written.error());
  if (!written->done) return Fail(CgroupError(file, written->error));
  return {};
}

Result<> GroupWriteFiles::Save(std::span<const KeptWrite> writes) {
  const std::string text = FormatWriteRecords(writes);
  const std::string file = state_folder_ + "/writes";
  const std::string fresh = file + ".new";
  const OpenFile open(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (open.fd() < 0) return Fail(CgroupError(fresh, errno));
  const ssize_t count = ::write(open.fd(), text.data(), text.size());
  if (count < 0 || static_cast<size_t>(count) != text.size())
    return Fail(CgroupError(fresh, count < 0 ? errno : ENOSPC));
  if (::fsync(open.fd()) != 0) return Fail(CgroupError(fresh, errno));
  if (std::rename(fresh.c_str(), file.c_str()) != 0) return Fail(CgroupError(file, errno));
  const OpenFile folder(state_folder_, O_RDONLY | O_DIRECTORY);
  if (folder.fd() < 0 || ::fsync(folder.fd()) != 0) return Fail(CgroupError(state_folder_, errno));
  return {};
}

}  // namespace synergy::nodeagent
