#include "json/base64.h"

#include <cstddef>
#include <cstdint>

namespace synergy::json {

std::string ToBase64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (size_t digit = 0; digit < 4; ++digit) {
      out += digit <= count ? kDigits[group >> (18 - 6 * digit) & 63] : '=';
    }
  }
  return out;
}

}  // namespace synergy::json
