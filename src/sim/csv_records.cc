#include "sim/csv_records.h"

#include <algorithm>

#include <fmt/format.h>

namespace synergy {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Returns whether a line contains only blanks, which may be separators.
bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t\r") == line.npos; }

}  // namespace

CsvRecords::CsvRecords(std::string_view text, std::string_view file, const Form& form)
    : text_(text), file_(file), form_(form) {
  if (text_.starts_with(kByteOrderMark)) at_ = line_start_ = kByteOrderMark.size();
}

bool CsvRecords::SkipBlankLines() {
  while (at_ < text_.size()) {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    if (!IsBlank(text_.substr(at_, end - at_))) return true;
    at_ = std::min(end + 1, text_.size());
    line_start_ = at_;
    ++next_line_;
  }
  return false;
}

Result<std::string_view> CsvRecords::ReadQuoted() {
  const size_t begin = at_;
  const size_t begin_line = next_line_;
  const size_t begin_column = at_ - line_start_ + 1;
  bool doubled = false;
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\n') {
      ++next_line_;
      line_start_ = at_ + 1;
    }
    if (text_[at_] != '"') continue;
    if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
    doubled = true;
    ++at_;
  }
  if (at_ >= text_.size()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}:{}:{}: the quote is not closed: write \" at the field's end", file_,
                            begin_line, begin_column));
  }
  const std::string_view inside = text_.substr(begin + 1, at_ - begin - 1);
  ++at_;
  if (!doubled) return inside;
  std::string& plain = unescaped_.emplace_back();
  for (size_t at = 0; at < inside.size(); ++at) {
    plain += inside[at];
    if (inside[at] == '"') ++at;
  }
  return std::string_view(plain);
}

Result<> CsvRecords::ReadField() {
  columns_.push_back(at_ - line_start_ + 1);
  if (form_.quotes && at_ < text_.size() && text_[at_] == '"') {
    const auto quoted = ReadQuoted();
    if (!quoted) return Fail(quoted.error());
    const bool ends = at_ >= text_.size() || text_[at_] == form_.separator || text_[at_] == '\n' ||
                      text_.substr(at_).starts_with("\r\n") || text_.substr(at_) == "\r";
    if (!ends) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("{}:{}:{}: text follows a closing quote: double the quotes that are "
                              "part of a field",
                              file_, next_line_, at_ - line_start_ + 1));
    }
    fields_.push_back(*quoted);
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    return {};
  }
  const char stops[] = {form_.separator, '\n'};
  const size_t end =
      std::min(text_.find_first_of(std::string_view(stops, std::size(stops)), at_), text_.size());
  std::string_view field = text_.substr(at_, end - at_);
  if ((end == text_.size() || text_[end] == '\n') && field.ends_with('\r')) field.remove_suffix(1);
  fields_.push_back(field);
  at_ = end;
  return {};
}

Result<bool> CsvRecords::Next() {
  fields_.clear();
  columns_.clear();
  if (!SkipBlankLines()) return false;
  line_ = next_line_;
  for (;;) {
    if (auto read = ReadField(); !read) return Fail(read.error());
    if (at_ >= text_.size()) return true;
    const bool more = text_[at_] == form_.separator;
    ++at_;
    if (more) continue;
    ++next_line_;
    line_start_ = at_;
    return true;
  }
}

}  // namespace synergy
