#pragma once

// Prints what a command shows, in each of the formats of --output: objects, each as a row of a
// table or as a text, as a tree, and by name.
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
  std::vector<std::string> cells = {};  // its row, if there are columns
  std::string text = {};                // if there are none
  Tree tree = {};
};

struct Shown {
  std::vector<std::string> columns = {};  // empty: the objects are texts
  size_t wide_columns = 0;                // of `columns`, the last ones: for -o wide alone
  std::vector<ShownObject> objects = {};
  bool is_list = true;                  // false: of one object, whatever it is
  std::string nothing = {};             // what to say if there are no objects
  std::vector<std::string> notes = {};  // what could not be read
};

// Returns a single object, without a table.
Shown ShowOne(std::string name, std::string text, Tree tree);

// Adds the namespace of the newest object to its row, as the first column.
void AddNamespace(Shown& shown, const std::string& of_namespace);

// Returns the table, or the texts. A column's heading is left out without `headings`.
std::string ToText(const Shown& shown, bool wide = false, bool headings = true);

// Prints what is shown, and of later states only the objects that have changed.
class Presenter {
 public:
  // `follows`: more than one state comes. Then the objects of lists stand by themselves in JSON and
  // YAML, too.
  Presenter(Format format, bool headings, bool follows)
      : format_(format), headings_(headings), follows_(follows) {}

  // Returns the text of the objects that differ from all of the state before.
  std::string Present(const Shown& shown);

 private:
  // Leaves only the objects that were not in the state before, if there was one.
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
