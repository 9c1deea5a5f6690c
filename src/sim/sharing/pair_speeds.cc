#include "sim/sharing/pair_speeds.h"

#include <utility>

#include "sim/csv.h"

namespace synergy {

std::optional<std::array<double, 2>> PairSpeeds::Of(const std::string& model,
                                                    const std::string& other,
                                                    const std::string& gpu_product) const {
  const auto found = speeds_.find(PairOf(model, other, gpu_product));
  if (found == speeds_.end()) return std::nullopt;
  std::array<double, 2> speeds = found->second;
  if (other < model) std::swap(speeds[0], speeds[1]);
  return speeds;
}

namespace {

// A job is not faster beside another one than alone; a larger number may be a percentage.
Result<double> SpeedAt(const CsvTable::Field& field) {
  auto speed = field.Number(0);
  if (speed && *speed > 1)
    return field.Reject("write the speed beside the other as a part of that alone, from 0 to 1");
  return speed;
}

}  // namespace

Result<PairSpeeds> ParsePairSpeeds(std::string_view text, std::string_view file_name) {
  const auto table = CsvTable::Parse(text, file_name);
  if (!table) return Fail(table.error());
  std::array<size_t, 5> columns{};
  constexpr std::array<const char*, 5> kNames = {"model", "other", "gpu_product", "speed",
                                                 "other_speed"};
  for (size_t at = 0; at < kNames.size(); ++at) {
    const auto column = table->Need(kNames[at]);
    if (!column) return Fail(column.error());
    columns[at] = *column;
  }
  PairSpeeds pairs;
  for (size_t row = 0; row < table->rows(); ++row) {
    const auto text_at = [&](size_t at) { return std::string(table->At(row, columns[at]).text); };
    const auto speed = SpeedAt(table->At(row, columns[3]));
    if (!speed) return Fail(speed.error());
    const auto other_speed = SpeedAt(table->At(row, columns[4]));
    if (!other_speed) return Fail(other_speed.error());
    if (pairs.Of(text_at(0), text_at(1), text_at(2)))
      return table->At(row, columns[0]).Reject("write one line for each pair and gpu_product");
    std::array<double, 2> speeds = {*speed, *other_speed};
    if (text_at(1) < text_at(0)) std::swap(speeds[0], speeds[1]);
    pairs.Set(PairOf(text_at(0), text_at(1), text_at(2)), speeds);
  }
  return pairs;
}

}  // namespace synergy
