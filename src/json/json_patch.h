#pragma once

// A JSON Patch (RFC 6902) that brings a parsed document to a desired state. It contains only
// operations that change something, and adds missing parents first.
//
//   JsonPatch patch(pod);
//   patch.SetText({"metadata", "annotations", "a/b"}, "x");
//   patch.Write()  -> [{"op":"add","path":"/metadata/annotations/a~1b","value":"x"}]
//
// Threading: one owner at a time. Ownership: the document must outlive the patch.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"

namespace synergy::json {

class JsonPatch {
 public:
  // The keys, and the array positions as decimal numbers, that lead to a value. REQUIRES: array
  // elements exist.
  using Path = std::vector<std::string>;

  explicit JsonPatch(Value root) : root_(root) {}

  // Set a value, even if Remove() was called for it earlier. `json` is the text of the value; it is
  // written even if it equals the present one. SetText() does nothing if the string is already
  // there.
  void Set(const Path& path, std::string json);
  void SetText(const Path& path, std::string_view text);
  // Does nothing if the document has no such value.
  void Remove(const Path& path);
  // Inserts an element at the front of the array. The elements of several calls keep the order of
  // the calls.
  void Prepend(const Path& array, std::string json);

  // Returns "[]" if nothing changes.
  std::string Write() const;

 private:
  struct Edit {
    std::map<std::string, Edit> children;
    std::optional<std::string> value;
    std::vector<std::string> elements;
    bool remove = false;
  };

  Edit& At(const Path& path);
  Value Find(const Path& path) const;
  static void WriteEdit(const Edit& edit, Value value, const std::string& pointer,
                        std::string& out);
  // Returns the text of the value that the edit creates if none exists; empty if it creates none.
  static std::string Make(const Edit& edit);

  Value root_;
  Edit edits_;
};

}  // namespace synergy::json
