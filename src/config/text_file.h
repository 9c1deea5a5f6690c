#pragma once

// Files as text.
//
// Threading: any.

#include <string>
#include <string_view>

#include "core/result.h"

namespace synergy::config {

// kNotFound, naming the file, where it cannot be read.
Result<std::string> ReadTextFile(const std::string& file);

// What `parse(text, file)` makes of the file's text: a Result.
template <class Parse>
auto ParseTextFile(const std::string& file, Parse parse) -> decltype(parse(file, file)) {
  const Result<std::string> text = ReadTextFile(file);
  if (!text) return Fail(text.error());
  return parse(*text, file);
}

// Replaces the file as a whole: who reads it finds all of the former text, or all of the new one.
// One writer of a file. Makes its folder, too. kUnavailable, naming the file, where it cannot be
// written.
Result<> WriteWholeFile(const std::string& file, std::string_view text);

}  // namespace synergy::config
