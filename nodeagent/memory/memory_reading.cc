#include "nodeagent/memory/memory_reading.h"

#include <algorithm>
#include <bit>
#include <chrono>

namespace synergy::nodeagent {
namespace {

constexpr Duration kPeakOf = std::chrono::minutes(1);
// The least time between two reports of rising use, however fast memory grows.
constexpr Duration kAfterRise = std::chrono::seconds(2);
constexpr Duration kAfterFall = std::chrono::minutes(1);
// Readers consider reports fresh for ten minutes (allocation/surplus.h).
constexpr Duration kRefresh = std::chrono::minutes(4);
// A fall of the peak to this fraction of the last report is worth a new report.
constexpr double kFallen = 0.8;

// Rounds up, by at most a sixteenth or 8 MiB, so that small rises need no report.
Bytes Rounded(Bytes amount) {
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(amount.count())));
  const int64_t unit = std::max(power / 16, MiB(8).count());
  return Bytes((amount.count() + unit - 1) / unit * unit);
}

}  // namespace

Bytes MemoryReporter::Peak(Bytes in_use, Instant now) {
  Peaked& newest = peaks_[newest_];
  if (newest.begin == Instant{}) {
    newest = {in_use, now};
  } else if (now - newest.begin >= kPeakOf) {
    newest_ = (newest_ + 1) % peaks_.size();
    peaks_[newest_] = {in_use, now};
  } else {
    newest.in_use = std::max(newest.in_use, in_use);
  }
  Bytes peak = in_use;
  for (const Peaked& past : peaks_) {
    if (now - past.begin < kPeakOf * static_cast<int>(peaks_.size())) {
      peak = std::max(peak, past.in_use);
    }
  }
  return peak;
}

std::optional<MemoryReading> MemoryReporter::Next(const ManagedContainer& fungible, Bytes in_use,
                                                  bool node_short, Moment now) {
  const bool first = peaks_[newest_].begin == Instant{};
  // The last report of an earlier process counts as a peak.
  const bool inherited =
      first && reported_ && reported_->at <= now.wall && now.wall - reported_->at < kPeakOf * 10;
  const Bytes peak = Peak(inherited ? std::max(in_use, reported_->in_use) : in_use, now.now);
  if (fungible.requested.memory <= fungible.floor.memory) return std::nullopt;
  const MemoryReading reading{Rounded(peak), node_short, now.wall};
  const auto due = [&] {
    if (!reported_ || reported_->node_short != node_short) return true;
    const Duration age = now.wall - reported_->at;
    if (age < Duration::zero()) return true;  // the clock was set back
    if (peak > reported_->in_use) return age >= kAfterRise;
    const auto fallen = static_cast<double>(reported_->in_use.count()) * kFallen;
    if (static_cast<double>(reading.in_use.count()) < fallen) return age >= kAfterFall;
    return age >= kRefresh;
  };
  if (!due()) return std::nullopt;
  reported_ = reading;
  return reading;
}

}  // namespace synergy::nodeagent
