#include "research/tiresias/tiresias_gittins.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace synergy {
namespace {

size_t UpTo(const std::vector<int64_t>& ascending, int64_t most) {
  return static_cast<size_t>(std::upper_bound(ascending.begin(), ascending.end(), most) -
                             ascending.begin());
}

// Rounds as Python does: to the decimal that is nearest to the exact value of the double, with ties
// to even.
double RoundTo(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

}  // namespace

TiresiasGittins::TiresiasGittins(std::vector<int64_t> sizes, int64_t stretch)
    : sizes_(std::move(sizes)), stretch_(stretch) {
  std::sort(sizes_.begin(), sizes_.end());
  sums_.push_back(0);
  for (const int64_t size : sizes_) sums_.push_back(sums_.back() + static_cast<double>(size));
  for (const int64_t size : sizes_) ranks_.push_back(At(size - 1).index);
}

TiresiasGittins::Value TiresiasGittins::At(int64_t attained) const {
  if (sizes_.empty() || attained >= sizes_.back()) return {};
  const size_t first = UpTo(sizes_, attained);
  const int64_t end = attained + stretch_;
  const size_t last = end >= sizes_.back() ? sizes_.size() - 1 : UpTo(sizes_, end);
  const auto left = static_cast<double>(sizes_.size() - first);
  const double chance = RoundTo((static_cast<double>(last) - static_cast<double>(first)) / left, 5);
  const double beyond = static_cast<double>(stretch_) * static_cast<double>(sizes_.size() - last);
  const double cost = RoundTo((sums_[last] - sums_[first] + beyond) / left, 5);
  return {.chance = chance, .cost = cost, .index = RoundTo(chance * 1e6 / cost, 4)};
}

double TiresiasGittins::Rank(int64_t attained) const {
  const size_t above = UpTo(sizes_, attained);
  return above == sizes_.size() ? 0 : ranks_[above];
}

}  // namespace synergy
