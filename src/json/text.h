#pragma once

// Handles text that may be malformed UTF-8: repairs it on input and shortens it in messages. Also
// encodes base64.
//
// Threading: pure.

#include <string>
#include <string_view>

namespace synergy::json {

// Appends `text`, with every byte that is not part of well-formed UTF-8 replaced by U+FFFD, as Go's
// encoding/json does.
void AppendRepairedUtf8(std::string& out, std::string_view text);
bool IsUtf8(std::string_view text);

// Repairs JSON text in place: an escaped half of a surrogate pair without its other half becomes
// U+FFFD, as in Go's encoding/json. Checks nothing else.
void RepairEscapedSurrogates(char* text, size_t size);

// Returns `text` in quotes for a message, cut after 60 bytes.
std::string Quoted(std::string_view text);

// Appends `text` to `out` as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD.
void AppendJsonString(std::string& out, std::string_view text);

// Returns base64 with padding (RFC 4648, section 4).
std::string ToBase64(std::string_view bytes);

}  // namespace synergy::json
