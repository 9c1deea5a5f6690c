#include "cli/text/shown.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/text/terminal.h"

namespace synergy::cli {
namespace {

size_t ColumnsOf(const Shown& shown, bool wide) {
  return shown.columns.size() - (wide ? 0 : shown.wide_columns);
}

// Returns a line for each object, after the line of headings.
std::vector<std::string> Lines(const Shown& shown, bool wide) {
  const size_t columns = ColumnsOf(shown, wide);
  std::vector<std::vector<std::string>> rows{shown.columns};
  for (const ShownObject& object : shown.objects) rows.push_back(object.cells);
  for (std::vector<std::string>& row : rows) row.resize(columns);
  const std::string table = FormatTable(std::move(rows));
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < table.size();) {
    const size_t end = table.find('\n', begin) + 1;
    lines.push_back(table.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

}  // namespace

Shown ShowOne(std::string name, std::string text, Tree tree) {
  Shown shown{.is_list = false};
  ShownObject& object = shown.objects.emplace_back();
  if (!name.empty()) object.names.push_back(std::move(name));
  object.text = std::move(text);
  object.tree = std::move(tree);
  return shown;
}

void AddNamespace(Shown& shown, const std::string& of_namespace) {
  constexpr const char* kColumn = "NAMESPACE";
  if (shown.columns.front() != kColumn) shown.columns.insert(shown.columns.begin(), kColumn);
  std::vector<std::string>& cells = shown.objects.back().cells;
  cells.insert(cells.begin(), of_namespace);
}

std::string ToText(const Shown& shown, bool wide, bool headings) {
  return Presenter(wide ? Format::kWide : Format::kTable, headings, false).Present(shown);
}

void Presenter::Choose(std::vector<bool>& chosen, const Shown& shown) {
  std::set<std::string> now;
  for (size_t i = 0; i < shown.objects.size(); ++i) {
    std::string state = ToJson(shown.objects[i].tree, TimeIn::kLeftOut);
    chosen[i] = !before_.contains(state);
    now.insert(std::move(state));
  }
  before_ = std::move(now);
}

std::string Presenter::Present(const Shown& shown) {
  std::vector<bool> chosen(shown.objects.size(), true);
  if (follows_) Choose(chosen, shown);
  std::string text;
  switch (format_) {
    case Format::kTable:
    case Format::kWide:
      text = Table(shown, chosen);
      break;
    case Format::kJson:
    case Format::kYaml:
      text = Trees(shown, chosen);
      break;
    case Format::kName:
      for (size_t i = 0; i < chosen.size(); ++i) {
        if (!chosen[i]) continue;
        for (const std::string& name : shown.objects[i].names) text += name + '\n';
      }
      break;
  }
  began_ = began_ || !shown.objects.empty();
  return text;
}

std::string Presenter::Table(const Shown& shown, const std::vector<bool>& chosen) const {
  std::string text;
  if (shown.columns.empty()) {
    for (size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i]) text += shown.objects[i].text;
    return text;
  }
  const std::vector<std::string> lines = Lines(shown, format_ == Format::kWide);
  if (headings_ && !began_ && !chosen.empty()) text = lines.front();
  for (size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]) text += lines[i + 1];
  return text;
}

std::string Presenter::Trees(const Shown& shown, const std::vector<bool>& chosen) {
  const auto write = [this](const Tree& tree) {
    return format_ == Format::kJson ? ToJson(tree) : ToYaml(tree);
  };
  if (shown.is_list && !follows_) {
    Tree::List list;
    for (const ShownObject& object : shown.objects) list.push_back(object.tree);
    return write(list);
  }
  std::string text;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) continue;
    if (format_ == Format::kYaml && (began_ || !text.empty())) text += "---\n";
    text += write(shown.objects[i].tree);
  }
  return text;
}

}  // namespace synergy::cli
