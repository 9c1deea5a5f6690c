#include "json/writer.h"

#include <cmath>

#include <fmt/format.h>

#include "json/text.h"

namespace synergy::json {

void Writer::Separate() {
  if (out_.empty()) return;
  const char last = out_.back();
  if (last != '{' && last != '[' && last != ':') out_ += ',';
}

void Writer::Begin(char bracket) {
  Separate();
  out_ += bracket;
}

void Writer::End(char bracket) { out_ += bracket; }

void Writer::Key(std::string_view key) {
  Separate();
  AppendJsonString(out_, key);
  out_ += ':';
}

void Writer::Text(std::string_view text) {
  Separate();
  AppendJsonString(out_, text);
}

void Writer::Integer(int64_t value) { Raw(fmt::format("{}", value)); }

void Writer::Number(double value) {
  Raw(std::isfinite(value) ? fmt::format("{}", value) : std::string("null"));
}

void Writer::Truth(bool value) { Raw(value ? "true" : "false"); }

void Writer::Raw(std::string_view json) {
  Separate();
  out_ += json;
}

// Recurses to a depth of at most Document::kDeepest.
// NOLINTNEXTLINE(misc-no-recursion)
void AppendValue(std::string& out, Value value) {
  if (value.missing()) return;
  if (value.IsString()) return AppendJsonString(out, value.text());
  if (value.IsNumber()) {
    out += value.text();
  } else if (value.IsBool()) {
    out += value.truth() ? "true" : "false";
  } else if (value.IsArray()) {
    out += '[';
    bool first = true;
    value.ForEachElement([&](Value element) {
      if (!first) out += ',';
      first = false;
      AppendValue(out, element);
    });
    out += ']';
  } else if (value.IsObject()) {
    out += '{';
    bool first = true;
    value.ForEachMember([&](std::string_view key, Value member) {
      if (!first) out += ',';
      first = false;
      AppendJsonString(out, key);
      out += ':';
      AppendValue(out, member);
    });
    out += '}';
  } else {
    out += "null";
  }
}

}  // namespace synergy::json
