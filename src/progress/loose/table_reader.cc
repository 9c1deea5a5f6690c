#include "progress/loose/table_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "progress/description.h"
#include "progress/numbers.h"

namespace synergy {
namespace {

constexpr size_t kMostCells = 24;
constexpr size_t kLongestName = 32;

struct Cells {
  std::array<std::string_view, kMostCells> text;
  size_t size = 0;
};

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

// Returns the length of the separator of cells at the beginning of `text`; 0 if there is none.
size_t MarkAt(std::string_view text) {
  for (const std::string_view mark : {"|", "\t", ",", "│", "┃"}) {
    if (text.starts_with(mark)) return mark.size();
  }
  return text.starts_with("  ") ? text.find_first_not_of(' ') : 0;
}

// Omits empty cells.
Cells Split(std::string_view text) {
  Cells cells;
  size_t begin = 0;
  const auto add = [&](size_t end) {
    const std::string_view cell = Trimmed(text.substr(begin, end - begin));
    if (!cell.empty() && cells.size < kMostCells) cells.text[cells.size++] = cell;
  };
  text = Trimmed(text);
  for (size_t at = 0; at < text.size();) {
    const size_t mark = MarkAt(text.substr(at));
    if (mark == 0) {
      ++at;
      continue;
    }
    add(at);
    at += mark;
    begin = at;
  }
  add(text.size());
  return cells;
}

std::string Lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

bool NamesCount(std::string_view name) {
  constexpr std::array<std::string_view, 13> kCounts = {
      "step", "steps",  "iter",    "iters",       "iteration", "iterations", "it",
      "#",    "update", "updates", "global_step", "batch",     "global step"};
  return std::find(kCounts.begin(), kCounts.end(), name) != kCounts.end();
}

bool NamesEpochs(std::string_view name) {
  return name == "epoch" || name == "epochs" || name == "ep" || name == "e";
}

// Returns whether the name is that of a training's loss.
bool NamesLoss(std::string_view name) {
  if (name.find("loss") == std::string_view::npos && name != "cost") return false;
  const auto contains = [name](std::string_view word) { return name.find(word) != name.npos; };
  return !contains("val") && !contains("test") && !contains("dev");
}

// Returns the seconds in the unit of a column of times per iteration ("ms/it"); 0 if the name is
// that of another column.
double TimeUnit(std::string_view name) {
  constexpr std::array<std::string_view, 4> kCounted = {"/it", "/iter", "/step", "/batch"};
  const size_t end = std::min(name.find('/'), name.size());
  const std::string_view unit = name.substr(0, end);
  if (std::find(kCounted.begin(), kCounted.end(), name.substr(end)) == kCounted.end()) return 0;
  return unit == "ms" ? 1e-3 : unit == "s" || unit == "sec" ? 1 : 0;
}

bool NamesRate(std::string_view name) {
  constexpr std::array<std::string_view, 8> kRates = {"it/s",    "its/s",  "iter/s",    "iters/s",
                                                      "steps/s", "step/s", "steps/sec", "it/sec"};
  return std::find(kRates.begin(), kRates.end(), name) != kRates.end();
}

}  // namespace

bool TableReader::ReadHeader(std::string_view text) {
  if (text.size() > kMostCells * kLongestName) return false;
  const std::string lower = Lowered(text);
  if (lower.find("loss") == std::string::npos && lower.find("cost") == std::string::npos) {
    return false;
  }
  const Cells cells = Split(lower);
  Header header;
  header.cells = cells.size;
  for (size_t i = 0; i < cells.size; ++i) {
    const std::string_view name = cells.text[i];
    if (name.size() > kLongestName || IsDigit(name.front())) return false;
    if (!header.count && NamesCount(name)) header.count = i;
    if (!header.epoch && NamesEpochs(name)) header.epoch = i;
    if (!header.loss && NamesLoss(name)) header.loss = i;
    if (!header.rate && NamesRate(name)) header.rate = i;
    if (!header.time && TimeUnit(name) > 0) {
      header.time = i;
      header.time_unit = TimeUnit(name);
    }
  }
  if (!header.loss || (!header.count && !header.epoch)) return false;
  header_ = header;
  return true;
}

std::optional<double> TableReader::SpeedIn(const std::string_view* cells) const {
  if (header_->rate) {
    const std::optional<double> rate = ReadNumber(cells[*header_->rate]);
    return rate && *rate > 0 ? rate : std::nullopt;
  }
  if (!header_->time) return std::nullopt;
  const std::optional<double> time = ReadNumber(cells[*header_->time]);
  if (!time || !(*time > 0)) return std::nullopt;
  return 1 / (*time * header_->time_unit);
}

std::optional<ProgressLine> TableReader::Read(std::string_view text) {
  if (ReadHeader(text) || !header_) return std::nullopt;
  const Cells cells = Split(text);
  if (cells.size != header_->cells) return std::nullopt;
  const auto has_number = [&](const std::optional<size_t>& column) {
    return !column || ReadNumber(cells.text[*column]);
  };
  if (!has_number(header_->count) || !has_number(header_->epoch) ||
      !(has_number(header_->loss) || cells.text[*header_->loss] == "nan")) {
    return std::nullopt;
  }
  const bool epochs = !header_->count;
  ProgressLine line{.format = epochs ? "epochs" : "steps",
                    .claim = epochs ? Claim::kEpoch : Claim::kNumber};
  line.iteration = ReadCount(cells.text[epochs ? *header_->epoch : *header_->count]);
  if (!line.iteration) return std::nullopt;
  if (header_->epoch) line.epoch = ReadNumber(cells.text[*header_->epoch]);
  line.loss = ReadNumber(cells.text[*header_->loss]);
  if (!epochs) line.rate = SpeedIn(cells.text.data());
  line.source = SourceOf("table", {}, epochs ? 1 : 0);
  return line;
}

}  // namespace synergy
