#include "progress/expression.h"

#include <algorithm>

#include "progress/numbers.h"

namespace synergy {
namespace {

constexpr std::array<const char*, Expression::kGroups> kNames = {
    "",     "iteration", "total", "epoch", "rate", "seconds", "milliseconds",
    "loss", "elapsed",   "unit",  "per"};

re2::RE2::Options Options(bool utf8, int64_t most_memory) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(most_memory);
  if (!utf8) options.set_encoding(re2::RE2::Options::EncodingLatin1);
  return options;
}

}  // namespace

Expression::Expression(std::string_view expression, bool utf8, int64_t most_memory)
    : regex_(re2::StringPiece(expression.data(), expression.size()), Options(utf8, most_memory)) {
  number_.fill(-1);
  if (!regex_.ok()) return;
  number_[kWhole] = 0;
  for (const auto& [name, number] : regex_.NamedCapturingGroups()) {
    const auto known = std::find(kNames.begin() + 1, kNames.end(), name);
    if (known == kNames.end() || number >= kMostGroups) continue;
    number_[static_cast<size_t>(known - kNames.begin())] = number;
    groups_ = std::max(groups_, number);
  }
}

bool Expression::Find(std::string_view text, Match& match) const {
  std::array<re2::StringPiece, kMostGroups> found;
  const re2::StringPiece piece(text.data(), text.size());
  if (!regex_.Match(piece, 0, piece.size(), re2::RE2::UNANCHORED, found.data(), groups_ + 1)) {
    return false;
  }
  match.fill({});
  for (size_t group = 0; group < kGroups; ++group) {
    if (number_[group] < 0) continue;
    const re2::StringPiece part = found[static_cast<size_t>(number_[group])];
    match[group] =
        part.data() == nullptr ? std::string_view() : std::string_view(part.data(), part.size());
  }
  return true;
}

bool Expression::Fill(const Match& match, ProgressLine& line) {
  if (!match[kIteration].empty()) {
    line.iteration = ReadCount(match[kIteration]);
    if (!line.iteration) return false;
  }
  line.total = ReadCount(match[kTotal]);
  if (line.total == 0) line.total.reset();
  line.epoch = ReadNumber(match[kEpoch]);
  line.loss = ReadNumber(match[kLoss]);
  if (!match[kElapsed].empty()) line.elapsed = ReadElapsed(match[kElapsed]);
  line.rate = ReadNumber(match[kRate]);
  if (const auto seconds = ReadNumber(match[kSeconds]); seconds && *seconds > 0) {
    line.rate = 1 / *seconds;
  }
  if (const auto milliseconds = ReadNumber(match[kMilliseconds]);
      milliseconds && *milliseconds > 0) {
    line.rate = 1000 / *milliseconds;
  }
  if (line.rate && !(*line.rate > 0)) line.rate.reset();
  return true;
}

}  // namespace synergy
