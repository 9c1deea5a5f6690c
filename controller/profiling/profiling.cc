#include "controller/profiling/profiling.h"

#include <chrono>
#include <utility>

namespace synergy::controller {
namespace {

constexpr Duration kStep = std::chrono::seconds(2);

}  // namespace

Profiling::Profiling(ProfilingDriver& driver, PodAdopter& adopter, MeasuredKeeper& keeper,
                     std::function<bool()> may_act, const Clock& clock)
    : driver_(driver),
      adopter_(adopter),
      keeper_(keeper),
      may_act_(std::move(may_act)),
      clock_(clock) {}

void Profiling::Start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

void Profiling::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Profiling::Run(const std::stop_token& stop) {
  bool acted = false;
  while (clock_.SleepFor(kStep, stop)) {
    const bool acts = may_act_();
    if (acts != acted) acts ? driver_.StartOver() : driver_.Rest();
    acted = acts;
    if (!acts) continue;
    driver_.Step(stop);
    adopter_.AdoptAll(stop);
    keeper_.DeleteOneIfDue(stop);
  }
}

}  // namespace synergy::controller
