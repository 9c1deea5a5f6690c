#include "controller/tuning.h"

#include <chrono>
#include <utility>

namespace synergy::controller {
namespace {

// How often changes under way are looked at where nothing is reported.
constexpr auto kTick = std::chrono::milliseconds(100);

}  // namespace

Tuning::Tuning(ClusterState& state, Tuner& tuner, const kube::LeaderElection& election,
               std::function<bool()> may_act, metrics::TunerMetrics& metrics)
    : state_(state),
      tuner_(tuner),
      election_(election),
      may_act_(std::move(may_act)),
      metrics_(metrics) {}

void Tuning::Start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

void Tuning::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Tuning::Replace(std::vector<Pod> all) {
  state_.ReplacePods(all);
  tuner_.PodsListed(all);
  Wake();
}

void Tuning::Upsert(Pod pod) {
  state_.UpsertPod(pod);
  tuner_.PodSeen(pod);
  Wake();
}

void Tuning::Remove(const Pod& pod) {
  state_.RemovePod(pod.uid);
  tuner_.PodGone(pod);
  Wake();
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
    {
      std::unique_lock lock(mutex_);
      woken_.wait_for(lock, stop, kTick, [this] { return news_; });
      news_ = false;
    }
    const bool leads = election_.IsLeader();
    metrics_.SetLeader(leads);
    const bool acts = leads && may_act_();
    if (acts && !acted) tuner_.StartOver();
    acted = acts;
    if (acts) tuner_.Step();
  }
}

}  // namespace synergy::controller
