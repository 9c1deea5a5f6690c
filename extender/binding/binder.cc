#include "extender/binding/binder.h"

#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "kube/deadline.h"

namespace synergy::extender {
namespace {

// How long the watch may take to catch up with the API server, and how often to check.
constexpr Duration kMostCatchUp = std::chrono::seconds(1);
constexpr Duration kCatchUp = std::chrono::milliseconds(2);

// How long one call may check binds in doubt.
constexpr Duration kLongestSettling = std::chrono::seconds(2);

// Returns whether the API server has certainly not made the binding and never will.
bool IsDefinite(ErrorCode code) {
  return code == ErrorCode::kNotFound || code == ErrorCode::kDenied ||
         code == ErrorCode::kInvalid || code == ErrorCode::kGone || code == ErrorCode::kOverloaded;
}

}  // namespace

Binder::Binder(ClusterState& state, kube::PodApi& pods, std::string gpu_resource,
               Allocations& allocations, const Clock& clock, Logger& log,
               metrics::ExtenderMetrics& metrics, BinderTimes times)
    : state_(state),
      pods_(pods),
      gpu_resource_(std::move(gpu_resource)),
      allocations_(allocations),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      times_(times) {}

Result<> Binder::Bind(const wire::BindingArgs& args, const std::string& request_id, Duration waited,
                      const std::optional<ResourceVector>& common) {
  const auto turn = turns_.Take(args.pod_uid);
  if (!turn) {
    return Refuse(args, "under_way",
                  {ErrorCode::kConflict, "an earlier bind of the pod has not ended yet"});
  }
  const kube::Deadline deadline(clock_, times_.bind - waited);
  Attempt attempt{args, request_id, deadline.token()};
  const Result<std::shared_ptr<const Pod>> found = Find(attempt);
  if (!found) return Fail(found.error());
  const Pod& pod = **found;

  const auto snapshot = state_.Snapshot();
  const Pod planned = allocations_.Plan(pod, args.node, *snapshot, common);
  const Result<> bound = BindAsPlanned(attempt, pod, planned);
  if (journal_ != nullptr) {
    journal_->Wrote(decision::Bind{snapshot->version(), pod, args.node, allocations_.reserve(),
                                   planned.requests.main, common});
  }
  return bound;
}

Result<std::shared_ptr<const Pod>> Binder::Find(Attempt& attempt) {
  const wire::BindingArgs& args = attempt.args;
  const std::optional<Placement> placement = state_.FindPlacement(args.pod_uid);
  attempt.in_doubt = placement && placement->assumed_until;
  if (!attempt.in_doubt) {
    if (auto pod = state_.FindPod(args.pod_uid)) return pod;
    // Neither the watch nor a filter call has reported the pod yet.
  }
  Result<Pod> found = pods_.Get(args.pod_namespace, args.pod_name, attempt.stop);
  if (!found) return Fail(Refuse(args, "unknown_pod", found.error()).error());
  if (found->uid != args.pod_uid) {
    state_.RemovePod(args.pod_uid);
    return Fail(
        Refuse(args, "unknown_pod",
               {ErrorCode::kNotFound, "the pod was replaced by another one of the same name"})
            .error());
  }
  if (attempt.in_doubt) state_.RefreshPod(*found);
  if (attempt.in_doubt && found->node.empty() && placement->pod->node != args.node) {
    return Fail(Refuse(args, "in_doubt",
                       {ErrorCode::kConflict,
                        fmt::format("the pod may still be bound to node {}", placement->pod->node)})
                    .error());
  }
  return std::make_shared<const Pod>(state_.WithDevices(*std::move(found)));
}

Result<> Binder::BindAsPlanned(const Attempt& attempt, const Pod& pod, Pod planned) {
  const wire::BindingArgs& args = attempt.args;
  AssumeOutcome outcome = Assume(attempt, planned);
  if (!outcome.assumed && !outcome.bound_to && pod.fungible) {
    // Another pod has taken what the plan adds to this pod's own requests.
    planned = pod;
    outcome = Assume(attempt, planned);
  }
  if (outcome.bound_to) {
    if (*outcome.bound_to == args.node) return {};
    return Refuse(args, "bound_elsewhere",
                  {ErrorCode::kConflict,
                   fmt::format("the pod is already bound to node {}", *outcome.bound_to)});
  }
  if (!outcome.assumed) {
    const auto snapshot = state_.Snapshot();
    const auto place = snapshot->Find(args.node);
    return Refuse(
        args, "no_fit",
        {ErrorCode::kConflict,
         fmt::format("the place on node {} is taken: {}", args.node,
                     DescribeFailures(outcome.failures, pod.requests,
                                      place ? &snapshot->node(*place) : nullptr, gpu_resource_))});
  }

  const Result<uint64_t> set = allocations_.Set(pod, planned, attempt.stop);
  if (!set) {
    if (set.error().code != ErrorCode::kDenied) {
      Forget(attempt, "allocation_failed");
      return Refuse(args, "allocation_failed", set.error());
    }
    planned = pod;
    Assume(attempt, planned);
  }
  const uint64_t written = set.value_or(pod.resource_version);
  if (const Result<> seen = LookAgain(attempt, pod, planned, written); !seen) {
    allocations_.Undo(pod, planned, attempt.stop);
    Forget(attempt, "watch_behind");
    return Refuse(args, "watch_behind", seen.error());
  }
  const std::string why = Allocations::Reason(planned, args.node, *state_.Snapshot());
  const Result<> bound = Send(attempt, planned, written, allocations_.Describe(pod, planned, why));
  if (!bound) {
    if (!IsDefinite(bound.error().code)) {
      if (const std::optional<Result<>> settled = Settle(attempt, bound.error())) return *settled;
    }
    allocations_.Undo(pod, planned, attempt.stop);
    Forget(attempt, "bind_failed");
    return Refuse(args, ToString(bound.error().code), bound.error());
  }
  metrics_.CountBind("bound");
  allocations_.Bound(pod, planned, why);
  log_.Info("pod bound",
            {{"request", attempt.request_id}, {"pod", pod.Key()}, {"node", args.node}});
  return {};
}

Result<> Binder::Send(const Attempt& attempt, const Pod& planned, uint64_t written,
                      const kube::AnnotationChanges& annotations) {
  const wire::BindingArgs& args = attempt.args;
  const kube::PodIdentity identity{args.pod_namespace, args.pod_name, args.pod_uid};
  // Bind only the planned version, because the resize of an earlier bind may take effect late.
  Result<> sent = pods_.Bind(identity, args.node, annotations, written, attempt.stop);
  if (sent || sent.error().code != ErrorCode::kConflict) return sent;
  const Result<Pod> found = pods_.Get(args.pod_namespace, args.pod_name, attempt.stop);
  // In the API server, the pod's requests do not include its GPUs from ResourceClaims.
  Resources written_requests = planned.requests;
  if (planned.devices) written_requests.main.gpus -= planned.devices->gpus;
  const bool is_as_planned = found && found->uid == args.pod_uid && found->node.empty() &&
                             found->requests == written_requests;
  if (!is_as_planned) return sent;
  return pods_.Bind(identity, args.node, annotations, found->resource_version, attempt.stop);
}

Result<> Binder::LookAgain(const Attempt& attempt, const Pod& pod, const Pod& planned,
                           uint64_t written) {
  if (const Result<> caught_up = CatchUp(attempt, planned, written); !caught_up) return caught_up;
  const auto snapshot = state_.Snapshot();
  const auto place = snapshot->Find(attempt.args.node);
  if (!place) return {};
  const NodeState others = WithNominated(WithoutPod(snapshot->node(*place), pod.uid), pod.uid);
  const ResourceVector left = LargerOf(others.Free() - pod.requests.main, {});
  const ResourceVector growth = planned.requests.main - pod.requests.main;
  if (growth.cpu <= left.cpu && growth.memory <= left.memory) return {};
  return Fail(ErrorCode::kConflict,
              fmt::format("room on node {} was promised to other pods while the pod was bound",
                          attempt.args.node));
}

Result<> Binder::CatchUp(const Attempt& attempt, const Pod& planned, uint64_t written) {
  if (state_.Snapshot()->pods_observed_until() >= written) return {};
  const Instant end = clock_.Now() + kMostCatchUp;
  while (clock_.Now() < end && clock_.SleepFor(kCatchUp, attempt.stop)) {
    if (state_.Snapshot()->pods_observed_until() < written) continue;
    if (Assume(attempt, planned).assumed) return {};
    return Fail(ErrorCode::kConflict,
                fmt::format("the room on node {} was given to other pods while the pod was bound",
                            attempt.args.node));
  }
  return Fail(ErrorCode::kUnavailable, "the watch of pods lags: the pods on the node are unknown");
}

AssumeOutcome Binder::Assume(const Attempt& attempt, const Pod& pod) {
  return state_.Assume(pod, attempt.args.node, clock_.Now() + times_.assume);
}

std::optional<Result<>> Binder::Settle(const Attempt& attempt, const Error& error) {
  const wire::BindingArgs& args = attempt.args;
  const Result<Pod> found = pods_.Get(args.pod_namespace, args.pod_name, attempt.stop);
  if (found ? found->uid != args.pod_uid : found.error().code == ErrorCode::kNotFound) {
    state_.RemovePod(args.pod_uid);
    metrics_.CountForgotten("pod_gone");
  } else if (found && !found->node.empty()) {
    state_.RefreshPod(*found);
    if (found->node == args.node) {
      metrics_.CountBind("bound_after_doubt");
      return Result<>();
    }
    metrics_.CountForgotten("bind_failed");
  } else if (found && error.code == ErrorCode::kConflict) {
    return std::nullopt;
  }
  return Refuse(args, ToString(error.code), error);
}

void Binder::Forget(const Attempt& attempt, std::string_view why) {
  // An earlier bind may still take effect.
  if (attempt.in_doubt) return;
  state_.Forget(attempt.args.pod_uid);
  metrics_.CountForgotten(why);
}

Result<> Binder::Refuse(const wire::BindingArgs& args, std::string_view outcome, Error error) {
  metrics_.CountBind(outcome);
  log_.Warn("cannot bind a pod", {{"pod", args.pod_namespace + "/" + args.pod_name},
                                  {"node", args.node},
                                  {"outcome", outcome},
                                  {"error", error.message}});
  return Fail(std::move(error));
}

void Binder::SettleExpired() {
  const Instant now = clock_.Now();
  state_.DropStaleExpectations(now, clock_.WallNow());
  const std::vector<AssumedPod> expired = state_.Expired(now);
  if (expired.empty()) return;
  const kube::Deadline deadline(clock_, kLongestSettling);
  for (const AssumedPod& assumed : expired) {
    if (deadline.token().stop_requested()) return;
    SettleExpired(assumed, now, deadline.token());
  }
}

void Binder::SettleExpired(const AssumedPod& assumed, Instant now, const std::stop_token& stop) {
  const Pod& pod = *assumed.pod;
  const auto turn = turns_.Take(pod.uid);
  if (!turn) return;  // a bind of the pod is in progress and settles it
  const std::optional<Placement> placement = state_.FindPlacement(pod.uid);
  if (!placement || !placement->assumed_until || *placement->assumed_until > now) return;
  const Result<Pod> found = pods_.Get(pod.pod_namespace, pod.name, stop);
  if (!found && found.error().code != ErrorCode::kNotFound) {
    // The outcome is unknown; keeping a place too long is better than giving it to two pods.
    state_.Extend(pod.uid, now + times_.assume);
    log_.Warn("cannot confirm a bound pod: no answer from the API server",
              {{"pod", pod.Key()}, {"error", found.error().message}});
    return;
  }
  if (!found || found->uid != pod.uid) {
    state_.RemovePod(pod.uid);
    metrics_.CountForgotten("pod_gone");
  } else if (found->node.empty()) {
    state_.Forget(pod.uid);
    metrics_.CountForgotten("not_bound");
  } else {
    state_.RefreshPod(*found);
  }
  log_.Warn("resolved the bind of a pod that the watch did not confirm",
            {{"pod", pod.Key()},
             {"assumed_on", pod.node},
             {"found_on", found ? found->node : std::string("nowhere")}});
}

}  // namespace synergy::extender
