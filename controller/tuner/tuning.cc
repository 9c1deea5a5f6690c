#include "controller/tuner/tuning.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace synergy::controller {
namespace {

// How often is asked who leads, where nothing is heard.
constexpr Duration kTick = std::chrono::milliseconds(100);

}  // namespace

Tuning::Tuning(TunerDriver& driver, std::function<bool()> may_act, const Clock& clock)
    : driver_(driver), may_act_(std::move(may_act)), clock_(clock) {}

void Tuning::Start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

void Tuning::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Tuning::Wake() {
  {
    const std::lock_guard lock(mutex_);
    news_ = true;
  }
  woken_.notify_one();
}

void Tuning::Run(const std::stop_token& stop) {
  bool acted = false;
  while (!stop.stop_requested()) {
    bool news = false;
    {
      std::unique_lock lock(mutex_);
      woken_.wait_for(lock, stop, kTick, [this] { return news_; });
      news = std::exchange(news_, false);
    }
    const bool acts = may_act_();
    if (acts != acted) acts ? driver_.StartOver() : driver_.Rest();
    const bool due = !acted || news || clock_.Now() >= driver_.wake();
    acted = acts;
    if (acts && due) driver_.Step();
  }
}

}  // namespace synergy::controller
