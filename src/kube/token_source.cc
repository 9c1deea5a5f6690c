#include "kube/token_source.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <sys/stat.h>

namespace synergy::kube {
namespace {

std::string Identity(const std::string& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return {};
  return fmt::format("{}:{}:{}.{}", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

}  // namespace

TokenSource::TokenSource(std::string token, std::string file)
    : file_(std::move(file)), token_(std::move(token)) {}

Result<std::unique_ptr<TokenSource>> TokenSource::Create(std::string token, std::string file) {
  std::unique_ptr<TokenSource> source(new TokenSource(std::move(token), std::move(file)));
  if (!source->file_.empty()) {
    if (const Result<> read = source->Refresh(); !read) return Fail(read.error());
  }
  return source;
}

Result<> TokenSource::Refresh() {
  // Read the identity before the file, so that a change during the read is noticed later.
  const std::string identity = Identity(file_);
  if (!identity.empty() && identity == seen_) return {};
  std::ifstream in(file_);
  std::ostringstream content;
  if (in) content << in.rdbuf();
  std::string token = content.str();
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  if (token.empty())
    return Fail(ErrorCode::kInvalid,
                fmt::format("token file {}: cannot be read or is empty", file_));
  token_ = std::move(token);
  seen_ = identity;
  return {};
}

std::string TokenSource::Token() {
  const std::lock_guard lock(mutex_);
  if (!file_.empty()) (void)Refresh();
  return token_;
}

void TokenSource::Refused() {
  const std::lock_guard lock(mutex_);
  seen_.clear();
}

}  // namespace synergy::kube
