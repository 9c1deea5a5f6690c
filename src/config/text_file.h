#pragma once

// Reads and writes whole text files.
//
// Threading: any thread.
//
// This file is separate because other folders read files without YAML.

#include <string>
#include <string_view>

#include "core/result.h"

namespace synergy::config {

// Returns kNotFound, with the file's name, if it cannot be read.
Result<std::string> ReadTextFile(const std::string& file);

// Returns `parse(text, file)`, a Result, for the file's text.
template <class Parse>
auto ParseTextFile(const std::string& file, Parse parse) -> decltype(parse(file, file)) {
  const Result<std::string> text = ReadTextFile(file);
  if (!text) return Fail(text.error());
  return parse(*text, file);
}

// Replaces the file atomically: a reader sees either the former text or the complete new text.
// Creates its folder if necessary. Returns kUnavailable, with the file's name, if it cannot be
// written. REQUIRES: a file has only one writer at a time.
Result<> WriteWholeFile(const std::string& file, std::string_view text);
// Does the same, and never lets another account read the file.
Result<> WritePrivateFile(const std::string& file, std::string_view text);

}  // namespace synergy::config
