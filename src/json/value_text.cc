#include "json/value_text.h"

#include "json/text.h"

namespace synergy::json {

// Recurses no deeper than Document::kDeepest.
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
