#include "cluster/gpu_turn.h"

namespace synergy {
namespace {

// Returns how far into the cycle `now` is. Times before the epoch count as part of earlier cycles.
Duration OffsetOf(const GpuTurn& turn, WallTime now) {
  const Duration offset = (now - turn.epoch) % turn.cycle;
  return offset < Duration::zero() ? offset + turn.cycle : offset;
}

// Calls f(begin, end) for each suspension; the last one may end in the next cycle.
template <typename F>
void ForEachSuspension(const GpuTurn& turn, const F& f) {
  for (size_t at = 0; at < turn.runs.size(); ++at) {
    const bool last = at + 1 == turn.runs.size();
    f(turn.runs[at].end, last ? turn.cycle + turn.runs.front().begin : turn.runs[at + 1].begin);
  }
}

}  // namespace

bool GpuTurn::RunsAt(WallTime now) const {
  const Duration offset = OffsetOf(*this, now);
  return std::any_of(runs.begin(), runs.end(), [offset](const Part& part) {
    return part.begin <= offset && offset < part.end;
  });
}

std::optional<WallTime> GpuTurn::NextSwitch(WallTime now) const {
  const Duration offset = OffsetOf(*this, now);
  std::optional<Duration> next;
  ForEachSuspension(*this, [&](Duration begin, Duration end) {
    if (begin == end) return;
    for (const Duration at : {begin, end}) {
      const Duration in = (at % cycle - offset + cycle) % cycle;
      const Duration delay = in == Duration::zero() ? cycle : in;
      if (!next || delay < *next) next = delay;
    }
  });
  if (!next) return std::nullopt;
  return now + *next;
}

bool GpuTurn::IsValid() const {
  if (cycle <= Duration::zero() || runs.empty()) return false;
  Duration last = Duration::zero();
  for (const Part& part : runs) {
    const bool follows = &part == runs.data() ? part.begin >= last : part.begin > last;
    if (!follows || part.end <= part.begin) return false;
    last = part.end;
  }
  if (last > cycle) return false;
  bool short_enough = true;
  ForEachSuspension(
      *this, [&](Duration begin, Duration end) { short_enough &= end - begin <= kMostSuspended; });
  return short_enough;
}

}  // namespace synergy
