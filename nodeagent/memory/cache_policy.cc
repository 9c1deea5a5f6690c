#include "nodeagent/memory/cache_policy.h"

#include <algorithm>

#include "core/rounding.h"

namespace synergy::nodeagent {
namespace {

// An excess of at most kSlack, or of at most 1/kSlackPart of the share, is not worth dropping.
constexpr Bytes kSlack = MiB(16);
constexpr int64_t kSlackPart = 64;

constexpr Bytes kFirstStep = MiB(16);
constexpr Bytes kSmallestStep = MiB(4);
constexpr int64_t kSmallestPart = 1024;
constexpr Bytes kLargestStep = MiB(512);
// Drops pause if the container's processes wait for memory for more than this fraction of the time.
constexpr double kMostStalled = 0.02;
constexpr Duration kFirstPause = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::seconds(30);
// After this long without a wait, the next pause is short again.
constexpr Duration kCalm = std::chrono::seconds(60);

// Returns the memory to keep free in addition to what containers lack, so that no process waits for
// the kernel to find memory.
Bytes Reserve(const NodeMemory& node) { return std::min(Bytes(node.total.count() / 50), GiB(1)); }

Bytes SmallestStep(const MemorySample& sample) {
  return std::clamp(Bytes(sample.use.usage.count() / kSmallestPart), kSmallestStep, kLargestStep);
}

Bytes AboveShare(const ShareUse& use) {
  const Bytes slack = std::max(kSlack, Bytes(use.share.count() / kSlackPart));
  const Bytes above = use.usage - use.share;
  return above <= slack ? Bytes(0) : std::clamp(above, Bytes(0), std::max(use.cache, Bytes(0)));
}

}  // namespace

std::vector<Bytes> WantedDrops(std::span<const ShareUse> uses, const NodeMemory& node,
                               bool node_short) {
  Bytes lacking = Reserve(node) - node.free;
  Bytes above;
  for (const ShareUse& use : uses) {
    lacking += std::max(use.share - use.usage, Bytes(0));
    above += AboveShare(use);
  }
  const double part =
      above > Bytes(0)
          ? std::clamp(static_cast<double>(lacking.count()) / static_cast<double>(above.count()),
                       0.0, 1.0)
          : 0;
  std::vector<Bytes> drops;
  drops.reserve(uses.size());
  for (const ShareUse& use : uses) {
    const bool all = use.strict || node_short;
    const Bytes most = AboveShare(use);
    drops.push_back(all ? most : Bytes(ToWhole(part * static_cast<double>(most.count()))));
  }
  return drops;
}

bool IsShort(const NodeMemory& node, Bytes eviction_threshold) {
  const Bytes near = std::min(Bytes(node.total.count() / 20), GiB(2));
  return node.available < eviction_threshold + near;
}

void CachePace::Pause(Brake why, Instant now) {
  brake_ = why;
  pause_ = pause_ == Duration::zero() ? kFirstPause : std::min(pause_ * 2, kLongestPause);
  paused_until_ = now + pause_;
  calm_since_ = now;
  step_ = Bytes(0);
}

void CachePace::Dropped(Bytes amount, bool all, Instant now) {
  dropped_ = amount;
  if (!all) Pause(Brake::kInVain, now);
}

void CachePace::Judge(const MemorySample& sample, Instant now) {
  brake_ = Brake::kNone;
  if (!last_ || now <= last_->at) return;
  if (sample.stalled && last_->stalled) {
    const double stalled = std::chrono::duration<double>(*sample.stalled - *last_->stalled) /
                           std::chrono::duration<double>(now - last_->at);
    if (stalled > kMostStalled) {
      Pause(Brake::kPressure, now);
      return;
    }
  }
  if (now - calm_since_ >= kCalm) pause_ = Duration::zero();
  if (dropped_ <= Bytes(0)) return;
  if (sample.refaulted - last_->refaulted > Bytes(dropped_.count() / 2)) {
    brake_ = Brake::kRefaults;
    step_ = Bytes(step_.count() / 2);
  } else {
    step_ = std::min(Bytes(step_.count() * 2), kLargestStep);
  }
}

Bytes CachePace::Next(const MemorySample& sample, Bytes wanted, bool urgent, Instant now) {
  if (!last_) step_ = kFirstStep;
  // Measurements made during a pause are not judged, so that one wait causes only one pause.
  if (now >= paused_until_) Judge(sample, now);
  const Bytes read =
      last_ ? std::max(sample.cache - (last_->cache - dropped_), Bytes(0)) : Bytes(0);
  last_ = Look{now, sample.cache, sample.refaulted, sample.stalled};
  dropped_ = Bytes(0);
  if (!sample.cache_can_be_released || wanted <= Bytes(0)) return Bytes(0);
  wanted = std::min(wanted, sample.cache);
  if (urgent) return std::min(wanted, kLargestStep);
  if (now < paused_until_) return Bytes(0);
  step_ = std::max(step_, SmallestStep(sample));
  return std::min(wanted, read + step_);
}

}  // namespace synergy::nodeagent
