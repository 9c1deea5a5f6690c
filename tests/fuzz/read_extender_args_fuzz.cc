// Reads any text as ExtenderArgs: the scanner has to find the same names as a parser.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "json/document.h"
#include "json/scanner.h"
#include "json/text.h"
#include "wire/extender/extender_messages.h"

namespace synergy::wire {
namespace {

using json::Document;
using json::Value;

bool HasEqualKeys(Value object) {
  std::vector<std::string_view> keys;
  object.ForEachMember([&](std::string_view key, Value) { keys.push_back(key); });
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

bool HasEscapedKeys(std::string_view text) {
  json::Scanner scanner(text);
  while (scanner.Peek() != '\0') {
    bool plain = false;
    if (!scanner.TakeString(plain).empty()) {
      if (!plain && scanner.Peek() == ':') return true;
    } else if (!scanner.Take(scanner.Peek())) {
      return false;
    }
  }
  return false;
}

// Returns whether Go's encoding/json could have written the text, with every key once and without
// escapes. The scanner makes no promise about other texts.
bool IsFromGo(std::string_view text, Value body) {
  bool equal = HasEqualKeys(body) || HasEqualKeys(body["Nodes"]);
  body["Nodes"]["items"].ForEachElement(
      [&](Value node) { equal = equal || HasEqualKeys(node) || HasEqualKeys(node["metadata"]); });
  return !equal && !HasEscapedKeys(text) && json::IsUtf8(text);
}

std::vector<std::string> NamesIn(Value body) {
  std::vector<std::string> names;
  body["NodeNames"].ForEachElement([&](Value name) { names.emplace_back(name.text()); });
  body["Nodes"]["items"].ForEachElement(
      [&](Value node) { names.emplace_back(node["metadata"]["name"].text()); });
  return names;
}

void CheckText(std::string_view text) {
  static const ObjectReader reader("nvidia.com/gpu");
  const Result<ExtenderArgs> args = ReadExtenderArgs(text, reader);
  if (!args) {
    SYNERGY_CHECK(json::IsUtf8(args.error().message), "messages are UTF-8");
    return;
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < args->size(); ++i) names.emplace_back(args->Name(i));
  SYNERGY_CHECK(args->answers().size() == names.size(), "there is an answer for each node");
  const Result<Document> document = Document::Parse(text);
  // The scanner checks only the brackets of parts that it skips.
  if (!document) return;
  const std::string answer = WriteFilterResult(args->whole_nodes, args->answers(), {});
  SYNERGY_CHECK(Document::Parse(answer).has_value(), "an answer to JSON is JSON");
  if (!IsFromGo(text, document->root())) return;
  SYNERGY_CHECK(names == NamesIn(document->root()), "the names are those of a parser");
  for (size_t i = 0; args->whole_nodes && i < names.size(); ++i) {
    const Result<Document> node = Document::Parse(args->node_objects[i]);
    // As a document of its own the node is nested less deeply, so more of it is checked.
    SYNERGY_CHECK(!node || node->root()["metadata"]["name"].text() == names[i],
                  "a node's text is its object");
  }
}

}  // namespace
}  // namespace synergy::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  synergy::wire::CheckText(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
