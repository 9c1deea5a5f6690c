#include "controller/tuner/tuner_driver.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace synergy::controller {
namespace {

// Limits the plans of one Step(), so that a request to stop the tuner is noticed.
constexpr int kMostPlans = 100;
// Retry interval after a failure to report an OOM kill or an eviction.
constexpr Duration kTryAgain = std::chrono::seconds(5);
// Agents measure storage at the same interval.
constexpr Duration kStorageLook = std::chrono::seconds(10);

}  // namespace

TunerDriver::TunerDriver(const Tuner& tuner, ClusterState& state, ActionExecutor& executor,
                         const Clock& clock, metrics::TunerMetrics& metrics, TunerDriverParts parts)
    : tuner_(tuner),
      state_(state),
      executor_(executor),
      clock_(clock),
      metrics_(metrics),
      parts_(std::move(parts)) {
  Record(decision::TunerSet{tuner_.settings()});
}

void TunerDriver::StartOver() {
  Rest();
  const Moment at = clock_.Present();
  memory_ = Tuner::StartOver(at);
  Record(decision::TunerStartedOver{at});
  state_.KeepNews();
}

void TunerDriver::Rest() {
  interrupted_ = false;
  executor_.Abandon();
  asked_.clear();
  state_.DropNews();
  memory_ = {};
}

void TunerDriver::Step() {
  if (interrupted_) StartOver();
  const Moment at = clock_.Present();
  state_.DropStaleExpectations(at.now, at.wall);
  for (int i = 0; i < kMostPlans && TakeOutcomes() && PlanAndDo(); ++i) {
  }
  LookForOoms();
  WatchLenders();
  metrics_.SetUnderWay(memory_.changes.size(), memory_.places.size());
}

void TunerDriver::LookForOoms() {
  if (parts_.oom == nullptr || !parts_.oom->pending()) return;
  parts_.oom->Act();
  if (parts_.oom->pending()) wake_ = std::min(wake_, clock_.Now() + kTryAgain);
}

bool TunerDriver::TakeOutcomes() {
  for (const ActionOutcome& outcome : executor_.TakeOutcomes()) {
    // Stop here: a new leader acts from now on, and our memory counts actions as requested although
    // they were not carried out.
    if (outcome.kept_from) {
      interrupted_ = true;
      return false;
    }
    const auto asked = asked_.extract(outcome.number);
    tuner_.OnResult(memory_, asked.mapped(), outcome.done, outcome.at);
    Record(decision::TunerLearned{outcome.number, outcome.done, outcome.at});
  }
  return true;
}

void TunerDriver::LookForIdle(Instant now) {
  if (!parts_.idle) return;
  std::map<std::string, IdlePod> idle = parts_.idle(now);
  if (idle == memory_.idle) return;
  if (parts_.journal != nullptr) parts_.journal->Wrote(decision::IdleReported{idle});
  tuner_.ObserveIdle(memory_, std::move(idle));
}

void TunerDriver::LookAtStorage(Instant now) {
  if (parts_.storage == nullptr || !parts_.reports || now < next_storage_look_) return;
  next_storage_look_ = now + kStorageLook;
  StorageFacts facts = WithReports(parts_.storage->facts(), parts_.reports(now),
                                   [this](const std::string& uid, const std::string& node) {
                                     const std::shared_ptr<const Pod> pod = state_.FindPod(uid);
                                     return pod != nullptr && pod->node == node;
                                   });
  if (facts != parts_.storage->facts()) {
    if (parts_.journal != nullptr) parts_.journal->Wrote(decision::StorageReported{facts});
    tuner_.ObserveStorage(memory_, parts_.storage->Hold(std::move(facts)));
  }
  if (parts_.publish_storage)
    parts_.publish_storage(ForPlacement(*parts_.storage, *state_.Snapshot()));
}

void TunerDriver::LookAtReservations(Instant now) {
  if (!parts_.reservations) return;
  std::vector<GpuReservation> reservations = parts_.reservations(now);
  if (reservations == memory_.reservations) return;
  if (parts_.journal != nullptr)
    parts_.journal->Wrote(decision::ReservationsReported{reservations});
  tuner_.ObserveReservations(memory_, std::move(reservations));
}

void TunerDriver::WatchLenders() {
  if (!parts_.watch_lenders) return;
  std::set<std::string> nodes = tuner_.NodesOfLenders(memory_);
  if (nodes == lenders_) return;
  lenders_ = nodes;
  parts_.watch_lenders(std::move(nodes));
}

bool TunerDriver::PlanAndDo() {
  if (parts_.profiles != nullptr) {
    if (const auto held = parts_.profiles->Hold()) Record(*held);
  }
  const ClusterNews news = state_.TakeNews();
  const Moment at = clock_.Present();
  LookForIdle(at.now);
  LookAtStorage(at.now);
  LookAtReservations(at.now);
  for (const PodNews& pod : news.pods) {
    tuner_.Observe(memory_, pod, at);
    if (parts_.oom != nullptr) parts_.oom->Observe(pod);
  }
  const TunerPlan plan = tuner_.Plan(*news.snapshot, memory_, at);
  wake_ = plan.wake;
  if (plan.round) metrics_.CountRound();
  if (parts_.journal != nullptr) {
    parts_.journal->Wrote(decision::TunerDecided{news.snapshot->version(), news.pods.size(), at,
                                                 next_number_, plan.actions, plan.wake,
                                                 plan.round});
  }
  for (const TunerAction& action : plan.actions) {
    const uint64_t number = next_number_++;
    asked_.emplace(number, action);
    executor_.Submit(number, action);
  }
  return !plan.actions.empty();
}

}  // namespace synergy::controller
