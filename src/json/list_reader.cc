#include "json/list_reader.h"

#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "json/scanner.h"
#include "json/tape_builder.h"
#include "json/text.h"

namespace synergy::json {

Result<Document> ListReader::Read(std::string text, std::string_view list, const ReadRules& rules,
                                  const std::function<void(Value, bool)>& on_item) {
  if (text.size() >= std::numeric_limits<uint32_t>::max())
    return Fail(ErrorCode::kInvalid, "JSON text of more than 4 GiB");
  if (!IsUtf8(text)) {
    std::string repaired;
    AppendRepairedUtf8(repaired, text);
    text = std::move(repaired);
  }
  RepairEscapedSurrogates(text.data(), text.size());
  const size_t size = text.size();
  text.append(TapeBuilder::kPadding, '\0');
  char* const begin = text.data();
  Scanner scanner(std::string_view(begin, size));
  // Only an object can contain a list.
  if (!scanner.Take('{')) return Document::Parse(std::string_view(begin, size));

  std::string rest = "{";
  const auto broken = [&scanner] {
    return Fail(ErrorCode::kInvalid, fmt::format("not JSON at byte {}", scanner.position()));
  };
  std::vector<Document::Entry> entries;
  while (!scanner.Take('}')) {
    if (rest.size() > 1 && !scanner.Take(',')) return broken();
    bool plain = false;
    scanner.Peek();
    const size_t start = scanner.position();
    const std::string_view key = scanner.TakeString(plain);
    if (key.empty() || !scanner.Take(':')) return broken();
    const bool is_list = key.substr(1, key.size() - 2) == list && scanner.Peek() == '[';
    if (!is_list) {
      if (scanner.TakeValue().empty()) return broken();
      if (rest.size() > 1) rest += ',';
      rest += scanner.Text(start);
      continue;
    }
    scanner.Take('[');
    bool first = true;
    while (!scanner.Take(']')) {
      if (!std::exchange(first, false) && !scanner.Take(',')) return broken();
      scanner.Peek();
      entries.clear();
      TapeBuilder builder(rules, entries);
      const Result<size_t> read = builder.Read(begin, begin + scanner.position(), begin + size);
      if (!read) return Fail(read.error());
      scanner.Pass(*read);
      on_item(Value(entries.data()), builder.cut());
    }
    // Insert a placeholder for the member, so that Parse() checks the commas around it.
    if (rest.size() > 1) rest += ',';
    rest += R"("":null)";
  }
  if (scanner.Peek() != '\0' || scanner.position() != size) return broken();
  return Document::Parse(rest + "}");
}

}  // namespace synergy::json
