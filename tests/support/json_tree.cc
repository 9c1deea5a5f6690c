#include "support/json_tree.h"

#include <charconv>
#include <cstddef>
#include <utility>

#include "json/document.h"
#include "json/text.h"
#include "wire/objects/objects.h"

namespace synergy::testing {
namespace {

JsonTree ToTree(json::Value value) {
  JsonTree tree;
  if (value.IsString()) {
    tree = {JsonTree::Kind::kString, std::string(value.text()), {}, {}};
  } else if (value.IsNumber()) {
    tree = {JsonTree::Kind::kOther, std::string(value.text()), {}, {}};
  } else if (value.IsBool()) {
    tree = {JsonTree::Kind::kOther, value.truth() ? "true" : "false", {}, {}};
  } else if (value.IsArray()) {
    tree.kind = JsonTree::Kind::kArray;
    value.ForEachElement([&](json::Value element) { tree.elements.push_back(ToTree(element)); });
  } else if (value.IsObject()) {
    tree.kind = JsonTree::Kind::kObject;
    value.ForEachMember([&](std::string_view key, json::Value member) {
      tree.members[std::string(key)] = ToTree(member);
    });
  }
  return tree;
}

// Removes and returns the first step of the pointer.
std::string TakeStep(std::string_view& pointer) {
  if (pointer.starts_with('/')) pointer.remove_prefix(1);
  const size_t end = pointer.find('/');
  const std::string_view raw = pointer.substr(0, end);
  pointer = end == std::string_view::npos ? std::string_view() : pointer.substr(end);
  std::string step;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '~' && i + 1 < raw.size()) {
      step += raw[++i] == '1' ? '/' : '~';
    } else {
      step += raw[i];
    }
  }
  return step;
}

bool ToIndex(const std::string& step, size_t& index) {
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  return error == std::errc() && end == step.data() + step.size();
}

tl::unexpected<Error> Impossible(std::string_view op, std::string_view path) {
  return Fail(ErrorCode::kInvalid, std::string(op) + " " + std::string(path) + " is impossible");
}

Result<> Carry(JsonTree& tree, std::string_view op, std::string_view path, const JsonTree& value) {
  std::string_view rest = path;
  JsonTree* at = &tree;
  std::string step = TakeStep(rest);
  while (!rest.empty()) {
    size_t index = 0;
    if (at->kind == JsonTree::Kind::kObject && at->members.contains(step)) {
      at = &at->members[step];
    } else if (at->kind == JsonTree::Kind::kArray && ToIndex(step, index) &&
               index < at->elements.size()) {
      at = &at->elements[index];
    } else {
      return Impossible(op, path);
    }
    step = TakeStep(rest);
  }
  size_t index = 0;
  if (at->kind == JsonTree::Kind::kObject) {
    if (op != "add" && !at->members.contains(step)) return Impossible(op, path);
    if (op == "remove") {
      at->members.erase(step);
    } else {
      at->members[step] = value;
    }
    return {};
  }
  if (at->kind != JsonTree::Kind::kArray || !ToIndex(step, index)) return Impossible(op, path);
  if (index > at->elements.size() || (op != "add" && index == at->elements.size()))
    return Impossible(op, path);
  const auto place = at->elements.begin() + static_cast<std::ptrdiff_t>(index);
  if (op == "add") {
    at->elements.insert(place, value);
  } else if (op == "replace") {
    *place = value;
  } else {
    at->elements.erase(place);
  }
  return {};
}

}  // namespace

const JsonTree& JsonTree::At(std::string_view pointer) const {
  static const JsonTree kNothing;
  const JsonTree* at = this;
  while (!pointer.empty()) {
    const std::string step = TakeStep(pointer);
    size_t index = 0;
    if (at->members.contains(step)) {
      at = &at->members.at(step);
    } else if (at->kind == Kind::kArray && ToIndex(step, index) && index < at->elements.size()) {
      at = &at->elements[index];
    } else {
      return kNothing;
    }
  }
  return *at;
}

std::string JsonTree::Write() const {
  std::string out;
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kOther:
      return text;
    case Kind::kString:
      json::AppendJsonString(out, text);
      return out;
    case Kind::kArray:
      for (const JsonTree& element : elements) out += (out.empty() ? "" : ",") + element.Write();
      return "[" + out + "]";
    case Kind::kObject:
      for (const auto& [key, member] : members) {
        if (!out.empty()) out += ',';
        json::AppendJsonString(out, key);
        out += ':' + member.Write();
      }
      return "{" + out + "}";
  }
  return out;
}

Result<JsonTree> ParseJsonTree(std::string_view text) {
  const Result<json::Document> document = json::Document::Parse(text);
  if (!document) return Fail(document.error());
  return ToTree(document->root());
}

Result<JsonTree> ApplyPatch(JsonTree tree, std::string_view patch) {
  const Result<JsonTree> operations = ParseJsonTree(patch);
  if (!operations) return Fail(operations.error());
  for (const JsonTree& operation : operations->elements) {
    const Result<> done =
        Carry(tree, operation.At("op").text, operation.At("path").text, operation.At("value"));
    if (!done) return Fail(done.error());
  }
  return tree;
}

}  // namespace synergy::testing
