#include "cli/text/table.h"

#include <algorithm>

#include <fmt/format.h>

namespace synergy::cli {

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
