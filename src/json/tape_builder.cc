#include "json/tape_builder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <rapidjson/error/en.h>

#include "json/scanner.h"

namespace synergy::json {

Result<size_t> TapeBuilder::Read(const char* begin, char* at, char* end) {
  constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseStopWhenDoneFlag;
  rapidjson::InsituStringStream stream(at);
  stream_ = &stream;
  end_ = end;
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, *this);
  if (full_) {
    // The values read so far are kept; skip the rest of the text.
    const char* const closing = FindClosing(stream.src_, end, static_cast<size_t>(depth_));
    while (depth_ > 0) Close();
    if (closing == end) return Fail(ErrorCode::kInvalid, "not JSON: an object does not end");
    return static_cast<size_t>(closing + 1 - at);
  }
  if (result.IsError()) {
    return Fail(ErrorCode::kInvalid, fmt::format("not JSON at byte {}: {}",
                                                 static_cast<size_t>(at - begin) + result.Offset(),
                                                 rapidjson::GetParseError_En(result.Code())));
  }
  return stream.Tell();
}

bool TapeBuilder::Open(Kind kind) {
  const bool may_add = !IsNearLimit() || MayAdd(false);
  if (full_) return false;
  bool unread = depth_ == Document::kDeepest || !may_add;
  if (!unread && cut_) {
    const std::string_view name = NameOfNext();
    vital_[depth_] = name.empty() ? depth_ == 0 || vital_[depth_ - 1] : IsVital(name);
    unread = !vital_[depth_];
  } else if (!unread && !rules_.only.empty()) {
    unread = IsUnread();
  }
  if (!unread) open_[depth_++] = entries_.size();
  if (may_add) entries_.push_back({nullptr, 0, kind});
  passed_over_ = unread;
  return !unread || PassOver();
}

bool TapeBuilder::Close() {
  if (std::exchange(passed_over_, false)) return true;
  const size_t container = open_[--depth_];
  entries_[container].extent = static_cast<uint32_t>(entries_.size() - container - 1);
  return true;
}

bool TapeBuilder::MayAdd(bool is_key) {
  if (!is_key && IsInObject()) return adding_;
  if (!cut_) Cut();
  full_ = entries_.size() + 1 >= rules_.most_vital_values;
  adding_ = !full_ && (depth_ == 0 || vital_[depth_ - 1]);
  return adding_;
}

void TapeBuilder::Cut() {
  cut_ = true;
  for (int depth = 0; depth < depth_; ++depth) {
    const std::string_view name = NameAt(depth);
    const bool outer = depth == 0 || vital_[depth - 1];
    vital_[depth] = outer && (name.empty() || IsVital(name));
  }
}

std::string_view TapeBuilder::NameOfNext() const {
  if (!IsInObject()) return {};
  return {entries_.back().text, entries_.back().extent};
}

std::string_view TapeBuilder::NameAt(int depth) const {
  const bool is_member = depth > 0 && entries_[open_[depth - 1]].kind == Kind::kObject;
  if (!is_member) return {};
  const Document::Entry& key = entries_[open_[depth] - 1];
  return {key.text, key.extent};
}

bool TapeBuilder::IsVital(std::string_view name) const {
  return std::find(rules_.vital.begin(), rules_.vital.end(), name) != rules_.vital.end();
}

bool TapeBuilder::IsUnread() const {
  if (!IsInObject()) return false;
  const std::string_view of = NameAt(depth_ - 1);
  for (const ReadRules::OnlyMember& only : rules_.only) {
    if (of == only.of) return NameOfNext() != only.member;
  }
  return false;
}

bool TapeBuilder::PassOver() {
  // RapidJSON next takes the character under the cursor, and then expects the closing bracket.
  const char* const closing = FindClosing(stream_->src_, end_, 0);
  if (closing == end_) return false;
  stream_->src_ += closing - 1 - stream_->src_;
  return true;
}

}  // namespace synergy::json
