#include "controller/profiling/profiling_actions.h"

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/text/quantity_text.h"
#include "core/wall_time.h"
#include "wire/pods/pod_writes.h"

namespace synergy::controller {

ProfilingActions::ProfilingActions(ClusterState& state, const ProfileStore& profiles,
                                   kube::PodApi& pods, kube::ProfileApi& profile_api, Logger& log,
                                   metrics::ProfilingMetrics& metrics,
                                   std::function<bool()> may_act)
    : state_(state),
      profiles_(profiles),
      pods_(pods),
      profile_api_(profile_api),
      log_(log),
      metrics_(metrics),
      may_act_(std::move(may_act)) {}

Result<> ProfilingActions::MayAct(const std::stop_token& stop) const {
  if (!stop.stop_requested() && may_act_()) return {};
  return Fail(ErrorCode::kCancelled, "another replica acts now");
}

Result<> ProfilingActions::Do(const ProfilerAction& action, const std::stop_token& stop) {
  if (const Result<> allowed = MayAct(stop); !allowed) return allowed;
  switch (action.kind) {
    case ProfilerActionKind::kProbe:
      return Probe(action, stop);
    case ProfilerActionKind::kEndProbe:
      return EndProbe(*action.pod, stop);
    case ProfilerActionKind::kPublish:
      return Publish(action, stop);
  }
  return {};
}

Result<> ProfilingActions::Probe(const ProfilerAction& action, const std::stop_token& stop) {
  const Pod& pod = *action.pod;
  const Result<Pod> answer =
      pods_.Annotate(pod, {{annotations::kProbe, wire::WriteProbe(action.probe)}},
                     kube::Precondition::kSamePod, stop);
  metrics_.CountProbe(answer ? "begun" : "failed");
  if (!answer) {
    log_.Warn("cannot begin a probe", {{"pod", pod.Key()}, {"error", answer.error().message}});
    return Fail(answer.error());
  }
  state_.RefreshPod(*answer);
  log_.Info("probe begun", {{"pod", pod.Key()},
                            {"cpu", ToQuantityText(action.probe.cpu)},
                            {"until", ToTimeText(action.probe.until)},
                            {"why", action.why}});
  return {};
}

Result<> ProfilingActions::EndProbe(const Pod& pod, const std::stop_token& stop) {
  if (const Result<> allowed = MayAct(stop); !allowed) return allowed;
  const Result<Pod> answer = pods_.Annotate(pod, {{annotations::kProbe, std::nullopt}},
                                            kube::Precondition::kSamePod, stop);
  if (answer) {
    state_.RefreshPod(*answer);
    metrics_.CountProbe("ended");
    log_.Info("probe ended", {{"pod", pod.Key()}});
    return {};
  }
  // A probe ends with its pod.
  if (answer.error().code == ErrorCode::kNotFound || answer.error().code == ErrorCode::kConflict)
    return {};
  log_.Warn("cannot end a probe", {{"pod", pod.Key()}, {"error", answer.error().message}});
  return Fail(answer.error());
}

Result<> ProfilingActions::Publish(const ProfilerAction& action, const std::stop_token& stop) {
  const MeasuredProfile& measured = action.measured;
  const std::string name = MeasuredName(measured);
  const std::string key = action.profile_namespace + "/" + name;
  const Result<> written = Write(action, name, stop);
  metrics_.CountPublished(written ? "published" : "failed");
  if (!written) {
    log_.Warn("cannot publish a measured profile",
              {{"profile", key}, {"error", written.error().message}});
    return written;
  }
  log_.Info("measured profile published", {{"profile", key},
                                           {"revision", measured.revision},
                                           {"points", measured.points.size()},
                                           {"confirmed", measured.confirmed},
                                           {"drifted", measured.drifted},
                                           {"why", action.why}});
  return {};
}

Result<> ProfilingActions::Write(const ProfilerAction& action, const std::string& name,
                                 const std::stop_token& stop) {
  const auto known = profiles_.Find(action.profile_namespace, name);
  if (known != nullptr) {
    if (!known->object.kept_by_us)
      return Fail(ErrorCode::kDenied, "another client has created a TrainingProfile of that name");
    Result<> written = profile_api_.WriteMeasured(known->object, action.measured, stop);
    // Our copy may be out of date: the profile is gone, or was created again.
    if (written || written.error().code != ErrorCode::kNotFound) return written;
  }
  if (const Result<> allowed = MayAct(stop); !allowed) return allowed;
  const Result<ProfileObject> made =
      profile_api_.Create(action.profile_namespace, action.measured, stop);
  if (!made) return Fail(made.error());
  if (const Result<> allowed = MayAct(stop); !allowed) return allowed;
  return profile_api_.WriteMeasured(*made, action.measured, stop);
}

}  // namespace synergy::controller
