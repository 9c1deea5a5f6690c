#include "nodeagent/cgroups/busy_time.h"

#include <algorithm>
#include <chrono>

namespace synergy::nodeagent {
namespace {

constexpr Duration kMinute = std::chrono::minutes(1);
constexpr Duration kLeast = std::chrono::seconds(10);

}  // namespace

bool BusyTime::Observe(const ContainerBusy& reading, Moment at) {
  if (!minute_.empty() && at.now <= minute_.back().at.now) return false;
  // Otherwise the count has restarted: the plugin restarted, or the container has other GPUs.
  const bool goes_on = last_ && !minute_.empty() && last_->since == reading.since &&
                       last_->seconds <= reading.seconds;
  if (goes_on) {
    const double passed = Seconds(at.now - minute_.back().at.now).count();
    busy_ += std::min(reading.seconds - last_->seconds, passed);
  } else {
    minute_.clear();
  }
  last_ = reading;
  minute_.push_back({at, busy_});
  while (minute_.size() > 2 && minute_[1].at.now <= at.now - kMinute) minute_.pop_front();
  return true;
}

std::optional<BusyEstimate> BusyTime::Estimate() const {
  if (minute_.empty() || busy_ <= 0) return std::nullopt;
  const Sample& first = minute_.front();
  const Sample& last = minute_.back();
  BusyEstimate estimate{.busy = last.busy, .rate = std::nullopt, .at = last.at.wall};
  const Duration passed = last.at.now - first.at.now;
  if (passed >= kLeast) estimate.rate = (last.busy - first.busy) / Seconds(passed).count();
  return estimate;
}

const ContainerBusy* FindBusy(const NodeBusy& busy, const std::string& pod_namespace,
                              const std::string& pod, const std::string& container) {
  const auto found = std::find_if(busy.containers.begin(), busy.containers.end(),
                                  [&](const ContainerBusy& reading) {
                                    return reading.pod_namespace == pod_namespace &&
                                           reading.pod == pod && reading.container == container;
                                  });
  return found == busy.containers.end() ? nullptr : &*found;
}

}  // namespace synergy::nodeagent
