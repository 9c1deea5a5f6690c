#include "extender/scheduler_extender.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "allocation/preemption.h"
#include "cluster/fit.h"
#include "extender/candidates.h"
#include "extender/ranking.h"
#include "json/extender_messages.h"

namespace synergy::extender {
namespace {

using metrics::Verb;

// The texts of one answer: few and equal, so each is kept once.
class Reasons {
 public:
  Reasons(const Resources& requests, std::string_view gpu_resource)
      : requests_(requests), gpu_(gpu_resource) {}

  std::string_view Text(FitFailures failures, const NodeState& node) {
    const bool names_differ = failures.Has(FitFailures::kOther);
    if (!names_differ) {
      for (const auto& [bits, text] : known_) {
        if (bits == failures) return text;
      }
    }
    std::string text = DescribeFailures(failures, requests_, &node, gpu_);
    if (names_differ) {
      const auto same = std::find_if(known_.begin(), known_.end(),
                                     [&text](const auto& entry) { return entry.second == text; });
      if (same != known_.end()) return same->second;
    }
    return known_.emplace_back(failures, std::move(text)).second;
  }

 private:
  const Resources& requests_;
  std::string_view gpu_;
  std::deque<std::pair<FitFailures, std::string>> known_;
};

// Measures a call from construction to destruction.
class Timed {
 public:
  Timed(metrics::ExtenderMetrics& metrics, const Clock& clock, Verb verb)
      : metrics_(metrics), clock_(clock), verb_(verb), start_(clock.Now()) {}
  ~Timed() { metrics_.CountCall(verb_, clock_.Now() - start_); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  metrics::ExtenderMetrics& metrics_;
  const Clock& clock_;
  Verb verb_;
  Instant start_;
};

}  // namespace

SchedulerExtender::SchedulerExtender(ClusterState& state, Binder& binder,
                                     const json::ObjectReader& reader, ReserveRule reserve,
                                     std::chrono::milliseconds expect_timeout, const Clock& clock,
                                     Logger& log, metrics::ExtenderMetrics& metrics,
                                     Watches watches)
    : state_(state),
      binder_(binder),
      reader_(reader),
      reserve_(reserve),
      expect_timeout_(expect_timeout),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      watches_(std::move(watches)) {}

std::string SchedulerExtender::Reject(Verb verb, const Error& error) {
  metrics_.CountError(verb, ToString(error.code));
  log_.Warn("request refused", {{"verb", ToString(verb)}, {"error", error.message}});
  return json::WriteError(error.message);
}

Result<> SchedulerExtender::Ready() const {
  if (watches_.complete()) return {};
  return Fail(ErrorCode::kUnavailable,
              "the extender has just started and does not know all pods and nodes yet");
}

void SchedulerExtender::Expect(const Pod& pod, NodeIndex node) {
  state_.Expect(pod, node, clock_.Now() + expect_timeout_);
}

std::string SchedulerExtender::Filter(std::string_view body) {
  const Timed timed(metrics_, clock_, Verb::kFilter);
  const auto args = json::ReadExtenderArgs(body, reader_);
  if (!args) return Reject(Verb::kFilter, args.error());
  if (!args->pod.UsesGpus()) return json::WriteFilterResult(args->whole_nodes, args->answers(), {});

  if (const Result<> ready = Ready(); !ready) return Reject(Verb::kFilter, ready.error());
  Reasons reasons(args->pod.requests, reader_.gpu_resource());
  std::vector<std::string_view> fitting;
  std::vector<json::FailedNode> failed;
  std::optional<NodeIndex> last_fitting;
  const auto judge = [&] {
    const auto snapshot = state_.Snapshot();
    Candidates candidates(*snapshot, state_.FindHold(args->pod.uid), *args, reader_);
    fitting.reserve(args->size());
    failed.clear();
    for (size_t i = 0; i < args->size(); ++i) {
      const Candidates::Candidate node = candidates.Get(i);
      const FitFailures failures = CheckFit(args->pod, *node.state);
      if (failures.none()) {
        fitting.push_back(args->answers()[i]);
        last_fitting = node.index;
      } else {
        failed.push_back({args->spelled_names[i], reasons.Text(failures, *node.state),
                          Unresolvable(failures, args->pod.requests, *node.state)});
      }
    }
  };
  judge();
  if (fitting.empty() && !failed.empty()) {
    watches_.catch_up();
    judge();
  }
  // With one node left kube-scheduler does not ask for scores: that node it is.
  if (fitting.size() == 1 && last_fitting) Expect(args->pod, *last_fitting);

  const std::string id = ids_.Begin(args->pod.uid);
  if (log_.Enabled(LogLevel::kDebug)) {
    log_.Debug("filtered", {{"request", id},
                            {"pod", args->pod.Key()},
                            {"nodes", args->size()},
                            {"fitting", fitting.size()}});
  }
  return json::WriteFilterResult(args->whole_nodes, fitting, failed);
}

std::string SchedulerExtender::Prioritize(std::string_view body) {
  const Timed timed(metrics_, clock_, Verb::kPrioritize);
  const auto args = json::ReadExtenderArgs(body, reader_);
  if (!args) return Reject(Verb::kPrioritize, args.error());

  std::vector<uint8_t> points(args->size(), 0);
  if (!args->pod.UsesGpus() || points.empty())
    return json::WriteHostPriorityList(args->spelled_names, points);

  if (const Result<> ready = Ready(); !ready) return Reject(Verb::kPrioritize, ready.error());
  const auto snapshot = state_.Snapshot();
  const BestFit best_fit(args->pod, *snapshot, reserve_);
  Candidates candidates(*snapshot, state_.FindHold(args->pod.uid), *args, reader_);
  Ranking ranking(*args);
  for (size_t i = 0; i < args->size(); ++i) {
    const Candidates::Candidate node = candidates.Get(i);
    if (!CheckFit(args->pod, *node.state).none()) continue;
    ranking.Add(i, best_fit.Rank(*node.state), node.index);
  }
  ranking.GivePoints(points);
  if (const std::optional<NodeIndex> best = ranking.best_node()) Expect(args->pod, *best);

  if (log_.Enabled(LogLevel::kDebug)) {
    log_.Debug("prioritized", {{"request", ids_.Current(args->pod.uid)},
                               {"pod", args->pod.Key()},
                               {"fitting", ranking.size()},
                               {"best", ranking.best_name()}});
  }
  return json::WriteHostPriorityList(args->spelled_names, points);
}

std::string SchedulerExtender::Bind(std::string_view body) {
  const Timed timed(metrics_, clock_, Verb::kBind);
  const auto args = json::ReadBindingArgs(body);
  if (!args) return Reject(Verb::kBind, args.error());
  if (const Result<> ready = Ready(); !ready) return Reject(Verb::kBind, ready.error());
  const Result<> bound = binder_.Bind(*args, ids_.Current(args->pod_uid));
  if (bound) return json::WriteError({});
  metrics_.CountError(Verb::kBind, ToString(bound.error().code));
  return json::WriteError(bound.error().message);
}

std::string SchedulerExtender::Preempt(std::string_view body) {
  const Timed timed(metrics_, clock_, Verb::kPreempt);
  const auto args = json::ReadPreemptionArgs(body, reader_);
  if (!args) return Reject(Verb::kPreempt, args.error());
  if (const Result<> ready = Ready(); !ready) return Reject(Verb::kPreempt, ready.error());
  const auto snapshot = state_.Snapshot();
  const Reclaiming reclaiming =
      patience_.Lasts(args->pod.uid, clock_.Now()) ? Reclaiming::kYes : Reclaiming::kNo;
  std::vector<json::NodeVictims> nodes;
  for (const auto& [name, uids] : args->victims_by_node) {
    const auto index = snapshot->Find(name);
    if (!index) continue;
    const auto victims = SelectVictims(*snapshot, args->pod, *index, uids, reclaiming);
    if (!victims) continue;
    json::NodeVictims& node = nodes.emplace_back();
    node.node = name;
    for (const auto& victim : victims->pods) node.uids.push_back(victim->uid);
    node.disruption_budget_violations = victims->disruption_budget_violations;
  }
  log_.Info("pre-emption considered", {{"request", ids_.Current(args->pod.uid)},
                                       {"pod", args->pod.Key()},
                                       {"proposed_nodes", args->victims_by_node.size()},
                                       {"kept_nodes", nodes.size()}});
  return json::WritePreemptionResult(nodes);
}

}  // namespace synergy::extender
