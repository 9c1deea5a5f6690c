// Takes any text as a user's pattern, a newline, and a line to which the pattern is applied.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "progress/patterns.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find('\n');
  const auto pattern = synergy::OwnPattern::Parse(text.substr(0, end));
  if (pattern && end != std::string_view::npos) pattern->Read(text.substr(end + 1));
  return 0;
}
