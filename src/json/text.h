#pragma once

// Text that need not be well-formed UTF-8: how it is repaired on the way in and shortened in
// messages.
//
// Threading: pure.

#include <string>
#include <string_view>

namespace synergy::json {

// Appends `text` with every byte that is not part of well-formed UTF-8 replaced by U+FFFD, as Go's
// encoding/json does.
void AppendRepairedUtf8(std::string& out, std::string_view text);
bool IsUtf8(std::string_view text);

// JSON text in place: an escaped half of a surrogate pair without its other half becomes U+FFFD, as
// in Go's encoding/json. Nothing else is looked at.
void RepairEscapedSurrogates(char* text, size_t size);

// `text` in quotes for a message, cut when it is long.
std::string Quoted(std::string_view text);

// `text` as a JSON string with its quotes, appended to `out`; invalid UTF-8 becomes U+FFFD.
void AppendJsonString(std::string& out, std::string_view text);

}  // namespace synergy::json
