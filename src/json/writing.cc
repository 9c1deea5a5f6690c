#include <string>
#include <string_view>

#include <fmt/format.h>

#include "json/text.h"

namespace synergy::json {

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  const size_t start = out.size();
  for (size_t i = 0; i < text.size();) {
    // Runs without anything to escape go over in one piece.
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

}  // namespace synergy::json
