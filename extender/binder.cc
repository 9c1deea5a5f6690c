#include "extender/binder.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "kube/pods.h"

namespace synergy::extender {
namespace {

// Whether the API server has certainly not made the binding and never will.
bool IsDefinite(ErrorCode code) {
  return code == ErrorCode::kNotFound || code == ErrorCode::kDenied ||
         code == ErrorCode::kInvalid || code == ErrorCode::kGone;
}

}  // namespace

Binder::Binder(ClusterState& state, kube::ApiClient& client, const json::ObjectReader& reader,
               Allocations& allocations, const Clock& clock, Logger& log,
               metrics::ExtenderMetrics& metrics, std::chrono::milliseconds assume_timeout)
    : state_(state),
      client_(client),
      reader_(reader),
      allocations_(allocations),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      assume_timeout_(assume_timeout) {}

Result<> Binder::Bind(const json::BindingArgs& args, const std::string& request_id) {
  std::shared_ptr<const Pod> pod = state_.FindPod(args.pod_uid);
  if (!pod) {
    // Neither the watch nor a filter call has told us of it.
    Result<Pod> found = kube::GetPod(client_, reader_, args.pod_namespace, args.pod_name);
    if (!found) return Refuse(args, "unknown_pod", found.error());
    if (found->uid != args.pod_uid) {
      return Refuse(args, "unknown_pod",
                    {ErrorCode::kNotFound, "the pod was replaced by another one of the same name"});
    }
    pod = std::make_shared<const Pod>(*std::move(found));
  }

  Pod planned = allocations_.Plan(*pod, args.node, *state_.Snapshot());
  AssumeOutcome outcome = Assume(planned, args);
  if (!outcome.assumed && !outcome.bound_to && pod->fungible) {
    // Somebody was faster with what it was to get beyond its own requests.
    planned = *pod;
    outcome = Assume(planned, args);
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
    return Refuse(args, "no_fit",
                  {ErrorCode::kConflict,
                   fmt::format("the place on node {} is taken: {}", args.node,
                               DescribeFailures(outcome.failures, pod->requests,
                                                place ? &snapshot->node(*place) : nullptr,
                                                reader_.gpu_resource()))});
  }

  if (const Result<> set = allocations_.Set(*pod, planned); !set) {
    if (set.error().code != ErrorCode::kDenied) {
      state_.Forget(args.pod_uid);
      metrics_.CountForgotten("allocation_failed");
      return Refuse(args, "allocation_failed", set.error());
    }
    planned = *pod;
    Assume(planned, args);
  }
  const std::string why = Allocations::Reason(planned, args.node, *state_.Snapshot());
  const Result<> bound = kube::BindPod(client_, {args.pod_namespace, args.pod_name, args.pod_uid},
                                       args.node, allocations_.Describe(*pod, planned, why));
  if (!bound) {
    if (!IsDefinite(bound.error().code)) return Settle(args, bound.error());
    allocations_.Undo(*pod, planned);
    state_.Forget(args.pod_uid);
    metrics_.CountForgotten("bind_failed");
    return Refuse(args, ToString(bound.error().code), bound.error());
  }
  metrics_.CountBind("bound");
  allocations_.Bound(*pod, planned, why);
  log_.Info("pod bound", {{"request", request_id}, {"pod", pod->Key()}, {"node", args.node}});
  return {};
}

AssumeOutcome Binder::Assume(const Pod& pod, const json::BindingArgs& args) {
  return state_.Assume(pod, args.node, clock_.Now() + assume_timeout_);
}

Result<> Binder::Settle(const json::BindingArgs& args, const Error& error) {
  const Result<Pod> found = kube::GetPod(client_, reader_, args.pod_namespace, args.pod_name);
  if (found && found->uid == args.pod_uid && found->node == args.node) {
    state_.RefreshPod(*found);
    metrics_.CountBind("bound_after_doubt");
    return {};
  }
  const bool gone = found ? found->uid != args.pod_uid : found.error().code == ErrorCode::kNotFound;
  if (gone || (found && !found->node.empty())) {
    state_.Forget(args.pod_uid);
    metrics_.CountForgotten(gone ? "pod_gone" : "bind_failed");
  }
  return Refuse(args, ToString(error.code), error);
}

Result<> Binder::Refuse(const json::BindingArgs& args, std::string_view outcome, Error error) {
  metrics_.CountBind(outcome);
  log_.Warn("pod not bound", {{"pod", args.pod_namespace + "/" + args.pod_name},
                              {"node", args.node},
                              {"outcome", outcome},
                              {"error", error.message}});
  return Fail(std::move(error));
}

void Binder::SettleExpired() {
  const Instant now = clock_.Now();
  state_.DropStaleExpectations(now, clock_.WallNow());
  for (const AssumedPod& assumed : state_.Expired(now)) {
    const Pod& pod = *assumed.pod;
    const Result<Pod> found = kube::GetPod(client_, reader_, pod.pod_namespace, pod.name);
    if (!found && found.error().code != ErrorCode::kNotFound) {
      // Blind: better to keep a place too long than to give it away twice.
      state_.Extend(pod.uid, now + assume_timeout_);
      log_.Warn("bound pod not confirmed and the API server does not say",
                {{"pod", pod.Key()}, {"error", found.error().message}});
      continue;
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
    log_.Warn("settled a pod that the watch did not confirm",
              {{"pod", pod.Key()},
               {"assumed_on", pod.node},
               {"found_on", found ? found->node : std::string("nowhere")}});
  }
}

}  // namespace synergy::extender
