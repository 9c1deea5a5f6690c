#pragma once

// Prints a command's result in the formats of --output. Each object of a result has a table row or
// a text, a tree, and a name.
//
// Threading: pure; a Presenter has one owner.

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "cli/text/tree.h"

namespace synergy::cli {

enum class Format { kTable, kWide, kJson, kYaml, kName };

struct ShownObject {
  std::vector<std::string> names = {};  // "pod/train-0"
  std::vector<std::string> cells = {};  // its row, if the result has columns
  std::string text = {};                // if the result has no columns
  Tree tree = {};
};

struct Shown {
  std::vector<std::string> columns = {};  // empty: the objects are texts
  size_t wide_columns = 0;                // how many of the last `columns` are only for -o wide
  std::vector<ShownObject> objects = {};
  bool is_list = true;                  // false: a single object of any kind
  std::string nothing = {};             // text to print if there are no objects
  std::vector<std::string> notes = {};  // what could not be read
};

// Returns a single object, without a table.
Shown ShowOne(std::string name, std::string text, Tree tree);

// Adds the namespace of the newest object to its row, as the first column.
void AddNamespace(Shown& shown, const std::string& of_namespace);

// Returns the table or the texts. Omits the headings of columns if `headings` is false.
std::string ToText(const Shown& shown, bool wide = false, bool headings = true);

// Prints a result, and for later states only the objects that have changed.
class Presenter {
 public:
  // `follows`: whether further states follow the first. If so, the objects of a list are printed
  // one by one in JSON and YAML, too.
  Presenter(Format format, bool headings, bool follows)
      : format_(format), headings_(headings), follows_(follows) {}

  // Returns the text of the objects that differ from all those of the previous state.
  std::string Present(const Shown& shown);

 private:
  // Keeps only the objects that were not in the previous state, if there was one.
  void Choose(std::vector<bool>& chosen, const Shown& shown);
  std::string Table(const Shown& shown, const std::vector<bool>& chosen) const;
  std::string Trees(const Shown& shown, const std::vector<bool>& chosen);

  const Format format_;
  const bool headings_;
  const bool follows_;
  bool began_ = false;
  std::set<std::string> before_;
};

}  // namespace synergy::cli
