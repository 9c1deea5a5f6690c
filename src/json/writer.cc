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

}  // namespace synergy::json
