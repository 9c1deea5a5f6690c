#include "json/json_patch.h"

#include <charconv>
#include <utility>

#include "json/text.h"

namespace synergy::json {
namespace {

Value Element(Value array, std::string_view position) {
  size_t wanted = 0;
  const auto [end, error] =
      std::from_chars(position.data(), position.data() + position.size(), wanted);
  if (error != std::errc() || end != position.data() + position.size()) return {};
  Value found;
  size_t index = 0;
  array.ForEachElement([&](Value element) {
    if (index++ == wanted) found = element;
  });
  return found;
}

Value Step(Value value, std::string_view step) {
  return value.IsArray() ? Element(value, step) : value[step];
}

// RFC 6901: "~" and "/" have their own escapes.
std::string Pointer(const std::string& parent, std::string_view step) {
  std::string pointer = parent + '/';
  for (const char c : step) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

void AppendOperation(std::string& out, std::string_view op, std::string_view pointer,
                     const std::string* value) {
  if (out.size() > 1) out += ',';
  out += R"({"op":")";
  out += op;
  out += R"(","path":)";
  AppendJsonString(out, pointer);
  if (value != nullptr) {
    out += R"(,"value":)";
    out += *value;
  }
  out += '}';
}

}  // namespace

JsonPatch::Edit& JsonPatch::At(const Path& path) {
  Edit* edit = &edits_;
  for (const std::string& step : path) edit = &edit->children[step];
  return *edit;
}

Value JsonPatch::Find(const Path& path) const {
  Value value = root_;
  for (const std::string& step : path) value = Step(value, step);
  return value;
}

void JsonPatch::Set(const Path& path, std::string json) {
  Edit& edit = At(path);
  edit.value = std::move(json);
  edit.remove = false;
}

void JsonPatch::SetText(const Path& path, std::string_view text) {
  const Value present = Find(path);
  Edit& edit = At(path);
  edit.remove = false;
  if (present.IsString() && present.text() == text) return;
  std::string json;
  AppendJsonString(json, text);
  edit.value = std::move(json);
}

void JsonPatch::Remove(const Path& path) {
  if (!Find(path).missing()) At(path).remove = true;
}

void JsonPatch::Prepend(const Path& array, std::string json) {
  At(array).elements.push_back(std::move(json));
}

// Recurses as deep as the longest path.
// NOLINTNEXTLINE(misc-no-recursion)
std::string JsonPatch::Make(const Edit& edit) {
  if (edit.value) return *edit.value;
  std::string out;
  for (const std::string& element : edit.elements) {
    out += out.empty() ? '[' : ',';
    out += element;
  }
  if (!out.empty()) return out + ']';
  for (const auto& [step, child] : edit.children) {
    const std::string made = Make(child);
    if (made.empty()) continue;
    out += out.empty() ? '{' : ',';
    AppendJsonString(out, step);
    out += ':';
    out += made;
  }
  return out.empty() ? out : out + '}';
}

// NOLINTNEXTLINE(misc-no-recursion)
void JsonPatch::WriteEdit(const Edit& edit, Value value, const std::string& pointer,
                          std::string& out) {
  if (edit.remove) return AppendOperation(out, "remove", pointer, nullptr);
  if (edit.value) {
    return AppendOperation(out, value.missing() ? "add" : "replace", pointer, &*edit.value);
  }
  if (!edit.elements.empty() && value.IsArray()) {
    for (auto element = edit.elements.rbegin(); element != edit.elements.rend(); ++element)
      AppendOperation(out, "add", pointer + "/0", &*element);
    return;
  }
  if (edit.elements.empty() && (value.IsObject() || value.IsArray())) {
    for (const auto& [step, child] : edit.children)
      WriteEdit(child, Step(value, step), Pointer(pointer, step), out);
    return;
  }
  const std::string made = Make(edit);
  if (!made.empty()) {
    AppendOperation(out, value.missing() ? "add" : "replace", pointer, &made);
  }
}

std::string JsonPatch::Write() const {
  std::string out = "[";
  for (const auto& [step, child] : edits_.children)
    WriteEdit(child, Step(root_, step), Pointer("", step), out);
  return out + ']';
}

}  // namespace synergy::json
