#pragma once

// Writes compact JSON text, piece by piece.
//
//   Writer out;
//   out.BeginObject();
//   out.Key("name");
//   out.Text("n1");
//   out.EndObject();
//   out.Take();  // {"name":"n1"}
//
// Threading: one owner. REQUIRES: the caller's calls for keys, values and ends form valid JSON.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "json/document.h"

namespace synergy::json {

class Writer {
 public:
  void BeginObject() { Begin('{'); }
  void EndObject() { End('}'); }
  void BeginArray() { Begin('['); }
  void EndArray() { End(']'); }
  void Key(std::string_view key);
  void Text(std::string_view text);
  void Integer(int64_t value);
  // Writes null if the value is not finite, which JSON cannot express.
  void Number(double value);
  void Truth(bool value);
  // Writes a value that already is JSON text.
  void Raw(std::string_view json);

  std::string Take() { return std::exchange(out_, {}); }

 private:
  void Separate();
  void Begin(char bracket);
  void End(char bracket);

  std::string out_;
};

// Appends a parsed value as JSON text without spaces. Appends nothing for a missing value. Numbers
// keep their spelling.
void AppendValue(std::string& out, Value value);

}  // namespace synergy::json
