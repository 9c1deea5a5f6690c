#include "engine/sharing/run_meter.h"

#include <algorithm>

namespace synergy {
namespace {

// The largest delay between an iteration and its report, beyond the time between two reports.
constexpr Duration kLateness = std::chrono::seconds(5);

}  // namespace

void RunMeter::Clear() {
  first_.reset();
  newest_.reset();
  quiet_since_.reset();
  widest_gap_ = {};
}

void RunMeter::Begin(Instant from) {
  from_ = from;
  Clear();
}

bool RunMeter::Observe(const KnownProgress& known, Instant received) {
  if (previous_ && received <= previous_->received) return true;
  const PodProgress& pod = known.pod;
  const Report report{received,
                      known.since,
                      pod.format,
                      pod.iterations,
                      pod.iteration,
                      pod.epoch,
                      pod.turn->time_suspended};
  const std::optional<Report> previous = std::exchange(previous_, report);
  if (!previous) {
    base_ = report.iterations;
    return true;
  }
  // A training that counts by epochs begins each one at 0.
  const bool next_epoch = report.epoch && previous->epoch && *report.epoch > *previous->epoch;
  const bool counts_back = report.iteration && previous->iteration &&
                           *report.iteration < *previous->iteration && !next_epoch;
  if (report.since != previous->since || report.format != previous->format ||
      report.iterations < previous->iterations || report.suspended < previous->suspended ||
      counts_back) {
    base_ = report.iterations;
    Clear();
    return false;
  }
  if (previous->received < from_) return true;
  const Duration gap = received - previous->received;
  if (gap > kLongestGap) {
    Clear();
    return true;
  }
  widest_gap_ = std::max(widest_gap_, gap);
  if (!quiet_since_) quiet_since_ = previous;
  if (report.iterations <= previous->iterations) return true;
  largest_step_ = std::max(largest_step_, report.iterations - previous->iterations);
  quiet_since_ = report;
  const bool ran = !pod.turn->suspended && report.suspended == previous->suspended;
  if (ran && pod.last) Extend(report, known);
  return true;
}

void RunMeter::Extend(const Report& report, const KnownProgress& known) {
  const WallTime at = *known.pod.last;
  const End end{report.iterations, at, report.suspended,
                report.received.time_since_epoch() - at.time_since_epoch()};
  if (!first_) {
    first_ = newest_ = end;
    return;
  }
  const Duration jump = end.behind - first_->behind;
  if (end.at <= newest_->at || std::max(jump, -jump) > widest_gap_ + kLateness) {
    Clear();
    quiet_since_ = report;
    return;
  }
  newest_ = end;
}

RunMeter::Stretch RunMeter::stretch() const {
  if (!first_) return {};
  const Duration time = (newest_->at - first_->at) - (newest_->suspended - first_->suspended);
  if (time <= Duration::zero()) return {};
  return {time, newest_->iterations - first_->iterations};
}

Duration RunMeter::silent() const {
  if (!quiet_since_) return {};
  return (previous_->received - quiet_since_->received) -
         (previous_->suspended - quiet_since_->suspended);
}

}  // namespace synergy
