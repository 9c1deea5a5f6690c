#include "json/base64.h"

#include <cstddef>
#include <cstdint>

namespace synergy::json {
namespace {

std::optional<uint32_t> Base64Digit(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<uint32_t>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<uint32_t>(c - 'a' + 26);
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0' + 52);
  if (c == '+') return 62;
  if (c == '/') return 63;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FromBase64(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  size_t digits = 0;
  size_t padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const std::optional<uint32_t> digit = Base64Digit(c);
    if (!digit || padding > 0) return std::nullopt;
    bits = (bits << 6) | *digit;
    if (++digits % 4 != 1) bytes += static_cast<char>(bits >> (6 - 2 * ((digits - 1) % 4)) & 0xff);
  }
  const size_t expected_padding = (4 - digits % 4) % 4;
  if (padding != expected_padding || expected_padding == 3) return std::nullopt;
  return bytes;
}

}  // namespace synergy::json
