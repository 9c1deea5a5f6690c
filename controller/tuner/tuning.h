#pragma once

// The tuner at work: woken by the watches, led by one replica, at rest while the cluster cannot be
// seen.
//
// Threading: one thread of its own; Wake() from any.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "controller/tuner/tuner_driver.h"
#include "core/clock.h"
#include "metrics/tuner_metrics.h"

namespace synergy::controller {

class Tuning {
 public:
  // `may_act`: whether this replica leads, what is known of the cluster is fresh and the webhook is
  // of use. All references outlive this.
  Tuning(TunerDriver& driver, std::function<bool()> may_act, const Clock& clock);

  void Start();
  void Stop();

  // There is news.
  void Wake();

 private:
  void Run(const std::stop_token& stop);

  TunerDriver& driver_;
  const std::function<bool()> may_act_;
  const Clock& clock_;

  std::mutex mutex_;
  std::condition_variable_any woken_;
  bool news_ = false;
  std::jthread thread_;
};

}  // namespace synergy::controller
