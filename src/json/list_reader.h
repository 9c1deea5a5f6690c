#pragma once

// Reads the objects of a list one after another, and reuses the memory of each for the next.
//
// Threading: pure.

#include <functional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "json/document.h"

namespace synergy::json {

class ListReader {
 public:
  // Calls on_item(element, cut) for each element of the array that is the member `list` of the
  // object in `text`. An element is valid only during its call; `cut` is its Document::cut().
  // Returns the object without that array. Returns kInvalid, with the position, if `text` is not
  // JSON; on_item may already have been called for some elements.
  static Result<Document> Read(std::string text, std::string_view list, const ReadRules& rules,
                               const std::function<void(Value, bool)>& on_item);
};

}  // namespace synergy::json
