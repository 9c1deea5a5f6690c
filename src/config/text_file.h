#pragma once

// A file as text.
//
// Threading: any.

#include <string>

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

}  // namespace synergy::config
