#include "json/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace synergy::json {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEscapedDigits = "fffd";        // of the same character

unsigned char ByteAt(std::string_view text, size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

// Returns the length of the well-formed sequence at `i`; 0 if there is none (Unicode, table 3-7).
size_t SequenceLength(std::string_view text, size_t i) {
  const unsigned char first = ByteAt(text, i);
  const unsigned char second = ByteAt(text, i + 1);
  const auto continues = [](unsigned char byte) { return byte >= 0x80 && byte <= 0xBF; };
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(second) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned char least = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned char most = first == 0xED ? 0x9F : 0xBF;
    const bool well_formed = second >= least && second <= most && continues(ByteAt(text, i + 2));
    return well_formed ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned char least = first == 0xF0 ? 0x90 : 0x80;
    const unsigned char most = first == 0xF4 ? 0x8F : 0xBF;
    const bool well_formed = second >= least && second <= most && continues(ByteAt(text, i + 2)) &&
                             continues(ByteAt(text, i + 3));
    return well_formed ? 4 : 0;
  }
  return 0;
}

// Returns the end of the run of ASCII that starts at `i`; nearly all text from an API server is
// ASCII.
size_t SkipAscii(std::string_view text, size_t i) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  uint64_t block = 0;
  for (; i + sizeof(block) <= text.size(); i += sizeof(block)) {
    std::memcpy(&block, text.data() + i, sizeof(block));
    if ((block & kHighBits) != 0) break;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

// Returns the position of the first malformed byte at or after `i`; the text's size if there is
// none.
size_t FindMalformed(std::string_view text, size_t i) {
  for (i = SkipAscii(text, i); i < text.size(); i = SkipAscii(text, i)) {
    const size_t length = SequenceLength(text, i);
    if (length == 0) return i;
    i += length;
  }
  return text.size();
}

// Returns the code unit of the escape \uXXXX at `text`, which ends at `end`.
std::optional<unsigned> EscapedUnit(const char* text, const char* end) {
  constexpr int kDigits = 4;
  if (end - text < 2 + kDigits || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  unsigned unit = 0;
  for (int i = 2; i < 2 + kDigits; ++i) {
    const char c = text[i];
    unsigned digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<unsigned>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<unsigned>(c - 'a') + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<unsigned>(c - 'A') + 10;
    } else {
      return std::nullopt;
    }
    unit = unit * 16 + digit;
  }
  return unit;
}

bool IsHighSurrogate(unsigned unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool IsLowSurrogate(unsigned unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

}  // namespace

bool IsUtf8(std::string_view text) { return FindMalformed(text, 0) == text.size(); }

void AppendRepairedUtf8(std::string& out, std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t end = FindMalformed(text, i);
    out += text.substr(i, end - i);
    i = end;
    if (i < text.size()) {
      out += kReplacement;
      ++i;
    }
  }
}

void RepairEscapedSurrogates(char* text, size_t size) {
  constexpr size_t kEscapeSize = 6;
  const char* const end = text + size;
  while (text < end) {
    text = static_cast<char*>(std::memchr(text, '\\', static_cast<size_t>(end - text)));
    if (text == nullptr) return;
    const std::optional<unsigned> unit = EscapedUnit(text, end);
    if (!unit) {
      text += std::min<ptrdiff_t>(2, end - text);  // the escaped character may be a backslash
      continue;
    }
    const std::optional<unsigned> next = EscapedUnit(text + kEscapeSize, end);
    if (IsHighSurrogate(*unit) && next && IsLowSurrogate(*next)) {
      text += 2 * kEscapeSize;
      continue;
    }
    if (IsHighSurrogate(*unit) || IsLowSurrogate(*unit)) {
      kEscapedDigits.copy(text + 2, kEscapedDigits.size());
    }
    text += kEscapeSize;
  }
}

std::string Quoted(std::string_view text) {
  constexpr size_t kLongest = 60;
  std::string quoted;
  if (text.size() <= kLongest) {
    AppendJsonString(quoted, text);
    return quoted;
  }
  AppendJsonString(quoted, text.substr(0, kLongest));
  quoted.insert(quoted.size() - 1, "...");
  return quoted;
}

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  const size_t start = out.size();
  for (size_t i = 0; i < text.size();) {
    // Copy a run that needs no escapes in one piece.
    size_t end = i;
    while (end < text.size() && text[end] != '"' && text[end] != '\\' &&
           static_cast<unsigned char>(text[end]) >= 0x20) {
      ++end;
    }
    out += text.substr(i, end - i);
    if (end < text.size()) {
      if (text[end] == '"' || text[end] == '\\') {
        out += '\\';
        out += text[end];
      } else {
        out += fmt::format("\\u{:04x}", static_cast<unsigned>(text[end]));
      }
      ++end;
    }
    i = end;
  }
  if (!IsUtf8(std::string_view(out).substr(start))) {
    const std::string written = out.substr(start);
    out.resize(start);
    AppendRepairedUtf8(out, written);
  }
  out += '"';
}

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
