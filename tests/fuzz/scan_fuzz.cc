// Scans any text: the values that the scanner finds in JSON must be those that a parser finds.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "json/document.h"
#include "json/scanner.h"
#include "json/text.h"

namespace synergy::json {
namespace {

// Reads each string, and at every other position the value that begins there.
void Walk(std::string_view text) {
  Scanner scanner(text);
  while (scanner.Peek() != '\0') {
    Scanner ahead = scanner;
    const size_t start = scanner.position();
    const std::string_view value = ahead.TakeValue();
    SYNERGY_CHECK(value.empty() || value == ahead.Text(start), "a value begins at the cursor");
    bool plain = false;
    const std::string_view spelled = scanner.TakeString(plain);
    if (spelled.empty()) {
      scanner.Take(scanner.Peek());
      continue;
    }
    SYNERGY_CHECK(spelled == value, "a string is a value");
    const Result<Document> read = Document::Parse(spelled);
    SYNERGY_CHECK(!plain || read.has_value(), "a plain string is JSON");
    SYNERGY_CHECK(
        !plain || !IsUtf8(spelled) || read->root().text() == spelled.substr(1, spelled.size() - 2),
        "a plain string means what it says");
  }
}

void CheckText(std::string_view text) {
  Walk(text);
  Scanner scanner(text);
  const std::string_view value = scanner.TakeValue();
  if (!Document::Parse(text)) return;
  SYNERGY_CHECK(!value.empty(), "what is JSON is a value");
  SYNERGY_CHECK(scanner.Peek() == '\0' && scanner.position() == text.size(),
                "the value is the whole text");
  SYNERGY_CHECK(Document::Parse(value).has_value(), "the value alone is JSON");
}

}  // namespace
}  // namespace synergy::json

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  synergy::json::CheckText(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
