#include "controller/cluster/leader_loop.h"

#include <optional>
#include <utility>

namespace synergy::controller {

void Waker::Wake() {
  {
    const std::lock_guard lock(mutex_);
    pending_ = true;
  }
  woken_.notify_one();
}

bool Waker::Await(Duration most, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  woken_.wait_for(lock, stop, most, [this] { return pending_; });
  return std::exchange(pending_, false);
}

LeaderLoop::LeaderLoop(LeaderTask task, Duration period, const Clock& clock)
    : task_(std::move(task)), wait_([period, &clock](const std::stop_token& stop) {
        return clock.SleepFor(period, stop);
      }) {}

LeaderLoop::LeaderLoop(LeaderTask task, Duration period, Waker& waker)
    : task_(std::move(task)),
      wait_([period, &waker](const std::stop_token& stop) { return waker.Await(period, stop); }) {}

void LeaderLoop::Start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

void LeaderLoop::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void LeaderLoop::Run(const std::stop_token& stop) {
  bool acted = false;
  std::optional<uint64_t> term;  // when start_over() last ran
  while (true) {
    const bool waited = wait_(stop);
    if (stop.stop_requested()) return;
    const bool may_act = task_.may_act();
    if (acted && !may_act) {
      task_.rest();
      acted = false;
    }
    const bool acts = may_act && task_.sees();
    bool starts = false;
    if (acts) {
      const auto present = task_.term ? std::optional(task_.term()) : std::nullopt;
      starts = present ? present != term : !acted;
      if (starts) task_.start_over();
      term = present;
      acted = true;
    }
    if (acts && (starts || waited || task_.due())) task_.step(stop);
    task_.every_look(acts, stop);
  }
}

}  // namespace synergy::controller
