#include "controller/progress/failures/elsewhere_keeper.h"

#include <utility>

namespace synergy::controller {

ElsewhereKeeper::ElsewhereKeeper(kube::RetryApi& api, kube::EventRecorder& events,
                                 std::function<bool()> may_act, const Clock& clock, Logger& log,
                                 metrics::ControllerMetrics& metrics)
    : api_(api),
      events_(events),
      may_act_(std::move(may_act)),
      clock_(clock),
      log_(log),
      metrics_(metrics) {}

void ElsewhereKeeper::StartOver() {
  decided_.clear();
  published_.reset();
}

void ElsewhereKeeper::Add(std::vector<AvoidedNode> nodes, kube::EventRecord event) {
  decided_.push_back({std::move(nodes), std::move(event)});
  if (decided_.size() > AvoidedNodes::kMost) decided_.pop_front();
}

void ElsewhereKeeper::Publish(const std::stop_token& stop) {
  Count();
  const WallTime wall = clock_.WallNow();
  std::erase_if(decided_, [wall](const Decided& one) { return one.nodes.front().until <= wall; });
  const Instant now = clock_.Now();
  if (decided_.empty() || now < due_ || stop.stop_requested() || !may_act_()) return;
  const Result<> published = TryToPublish(stop);
  if (published) {
    due_ = now + kInterval;
    error_.reset();
    return;
  }
  due_ = now + kPause;
  const Error& error = published.error();
  if (std::exchange(error_, error.code) != error.code)
    log_.Warn("cannot publish which nodes jobs avoid", {{"error", error.message}});
}

void ElsewhereKeeper::Count() const {
  AvoidedNodes nodes = published_ && may_act_() ? published_->nodes : AvoidedNodes();
  nodes.DropLapsed(clock_.WallNow());
  metrics_.SetAvoidedNodes(nodes.All().size());
}

Result<> ElsewhereKeeper::TryToPublish(const std::stop_token& stop) {
  if (!published_) {
    auto read = api_.ReadAvoidedNodes(stop);
    if (!read && read.error().code != ErrorCode::kNotFound) return Fail(read.error());
    published_ = read ? *std::move(read) : PublishedAvoidedNodes();
  }
  PublishedAvoidedNodes next = *published_;
  next.nodes.DropLapsed(clock_.WallNow());
  bool changed = false;
  for (Decided& decided : decided_) {
    for (const AvoidedNode& node : decided.nodes) {
      if (!next.nodes.Add(node)) continue;
      changed = decided.is_new = true;
    }
  }
  if (changed) {
    auto written = api_.WriteAvoidedNodes(next, stop);
    if (!written) {
      // The call may have taken effect, or another client may have written.
      published_.reset();
      return Fail(written.error());
    }
    published_ = *std::move(written);
  }
  for (Decided& decided : decided_) {
    if (decided.is_new) events_.Record(std::move(decided.event));
  }
  decided_.clear();
  return {};
}

}  // namespace synergy::controller
