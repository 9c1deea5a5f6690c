#include "cli/commands/log_file.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

namespace synergy::cli {
namespace {

using GzFile = std::unique_ptr<std::remove_pointer_t<gzFile>, decltype(&gzclose)>;

// zlib reads uncompressed data unchanged.
Result<GzFile> Open(const std::string& file) {
  const int descriptor = file == "-" ? dup(STDIN_FILENO) : open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return Fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kDenied,
                fmt::format("cannot read {}: {}; name a container's log, or - for standard input",
                            file, std::strerror(errno)));
  }
  return GzFile(gzdopen(descriptor, "rb"), &gzclose);
}

}  // namespace

Result<> ReadLogFile(const std::string& file,
                     const std::function<void(std::string_view)>& on_piece) {
  const Result<GzFile> opened = Open(file);
  if (!opened) return Fail(opened.error());
  std::vector<char> piece(256 << 10);
  for (;;) {
    const int size = gzread(opened->get(), piece.data(), static_cast<unsigned>(piece.size()));
    if (size > 0) on_piece({piece.data(), static_cast<size_t>(size)});
    int failure = Z_OK;
    const char* const message = gzerror(opened->get(), &failure);
    if (failure == Z_ERRNO || failure == Z_DATA_ERROR) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("cannot read {}: {}", file,
                              failure == Z_ERRNO ? std::strerror(errno) : message));
    }
    if (size <= 0) return {};
  }
}

}  // namespace synergy::cli
