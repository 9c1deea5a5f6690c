#include "extender/gangs/shared_gangs.h"

#include <chrono>
#include <utility>

namespace synergy::extender {
namespace {

constexpr Duration kBetweenLooks = std::chrono::milliseconds(20);

}  // namespace

SharedGangs::SharedGangs(ClusterState& state, ReserveRule reserve, std::string gpu_resource,
                         GangTimes times, LocalityRules locality, const Clock& clock, Logger& log)
    : clock_(clock),
      gangs_(state, reserve, std::move(gpu_resource), times, std::move(locality), clock, log) {}

GangVerdict SharedGangs::Place(const Pod& pod, const AskedNodes& asked, const NodeSet& avoided,
                               const OpenGpus& open) {
  const std::lock_guard lock(mutex_);
  return gangs_.Place(pod, asked, avoided, open);
}

GangBindOutcome SharedGangs::Await(const std::string& uid, const std::string& node) {
  const std::shared_ptr<GangBind> bind = BeginBind(uid, node);
  while (true) {
    if (const std::optional<GangBindOutcome> outcome = OutcomeOf(*bind)) return *outcome;
    clock_.SleepFor(kBetweenLooks, {});
  }
}

std::shared_ptr<GangBind> SharedGangs::BeginBind(const std::string& uid, const std::string& node) {
  const std::lock_guard lock(mutex_);
  return gangs_.BeginBind(uid, node);
}

std::optional<GangBindOutcome> SharedGangs::OutcomeOf(GangBind& bind) {
  const std::lock_guard lock(mutex_);
  return gangs_.OutcomeOf(bind);
}

bool SharedGangs::YieldTo(const Pod& pod, const AskedNodes& asked) {
  const std::lock_guard lock(mutex_);
  return gangs_.YieldTo(pod, asked);
}

bool SharedGangs::NoteSucceeded(const Pod& pod, size_t members) {
  const std::lock_guard lock(mutex_);
  return gangs_.NoteSucceeded(pod, members);
}

void SharedGangs::Resume() {
  const std::lock_guard lock(mutex_);
  gangs_.Resume();
}

void SharedGangs::Look() {
  const std::lock_guard lock(mutex_);
  gangs_.Look();
}

void SharedGangs::Stop() {
  const std::lock_guard lock(mutex_);
  gangs_.Stop();
}

GangCounts SharedGangs::Count() const {
  const std::lock_guard lock(mutex_);
  return gangs_.Count();
}

}  // namespace synergy::extender
