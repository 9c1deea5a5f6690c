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
  // Consists of keys, and of positions in arrays as decimal numbers. REQUIRES: array elements
  // exist. A value that is set stays set, whether or not it was removed earlier.
  using Path = std::vector<std::string>;

  explicit JsonPatch(Value root) : root_(root) {}

  // `json` is the text of the value. Does nothing if the same string is already there; for other
  // values the caller must check whether they differ.
  void Set(const Path& path, std::string json);
  void SetText(const Path& path, std::string_view text);
  // Does nothing if there is nothing to remove.
  void Remove(const Path& path);
  // Inserts before the elements of the array, in the order of the calls.
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
  // Returns the value that the edit creates where none exists; empty if it creates nothing.
  static std::string Make(const Edit& edit);

  Value root_;
  Edit edits_;
};

}  // namespace synergy::json
