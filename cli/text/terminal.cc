#include "cli/text/terminal.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "json/text.h"

namespace synergy::cli {
namespace {

constexpr unsigned char kFirstOfC1 = 0xC2;  // U+0080 to U+009F are C2 80 to C2 9F

bool IsControl(unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F; }

}  // namespace

std::string Printable(std::string_view text) {
  std::string repaired;
  json::AppendRepairedUtf8(repaired, text);
  std::string printable;
  printable.reserve(repaired.size());
  for (size_t i = 0; i < repaired.size(); ++i) {
    auto c = static_cast<unsigned char>(repaired[i]);
    const bool in_c1 = c == kFirstOfC1 && static_cast<unsigned char>(repaired[i + 1]) < 0xA0;
    if (in_c1) c = static_cast<unsigned char>(repaired[++i]);
    if (in_c1 || IsControl(c)) {
      fmt::format_to(std::back_inserter(printable), "\\u{:04x}", c);
    } else {
      printable += repaired[i];
    }
  }
  return printable;
}

std::string FormatTable(std::vector<std::vector<std::string>> rows, size_t indent) {
  std::vector<size_t> widths;
  for (auto& row : rows) {
    for (std::string& cell : row) std::replace(cell.begin(), cell.end(), '\n', ' ');
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string table;
  for (const auto& row : rows) {
    table.append(indent, ' ');
    for (size_t column = 0; column < row.size(); ++column) {
      const bool last = column + 1 == row.size();
      table += fmt::format("{:<{}}{}", row[column], last ? 0 : widths[column], last ? "" : "  ");
    }
    table += '\n';
  }
  return table;
}

}  // namespace synergy::cli
