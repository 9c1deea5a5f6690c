#include "controller/admission/gang_owners.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "kube/deadline.h"

namespace synergy::controller {

GangOwners::GangOwners(kube::ApiClient& client, const ClusterState& state, std::string gpu_resource,
                       const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics,
                       GpusOfTemplate gpus_of_template)
    : client_(client),
      state_(state),
      gpu_resource_(std::move(gpu_resource)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      gpus_of_template_(std::move(gpus_of_template)) {}

ResolvedGang GangOwners::SizeFor(const PodToAdmit& pod, Duration within) {
  const Instant end = clock_.Now() + within;
  if (!pod.why_no_gang.empty())
    return {.size = 1, .warning = "synergy: the pod belongs to no gang: " + pod.why_no_gang};
  if (const auto set = wire::FindJobSet(pod)) {
    const Answer answer = Ask(pod, *set, end);
    if (answer.failure.empty() && !answer.missing && answer.gang.size == 1) return InStages(*set);
  }
  const std::optional<wire::GangOwner> group = wire::FindSchedulingGroup(pod);
  if (!group) return SizeByOwner(pod, end);
  const Answer answer = Ask(pod, *group, end);
  if (!answer.failure.empty()) {
    ResolvedGang resolved = WithoutRead(*group, answer.failure);
    const auto owner = wire::FindGangOwner(pod);
    const int32_t size = owner ? SizeOfMembers(owner->gang) : 1;
    return resolved.size == 1 && size > 1 ? ResolvedGang{.size = size} : resolved;
  }
  if (answer.missing || answer.gang.size == 0) {
    ResolvedGang resolved = SizeByOwner(pod, end);
    if (answer.missing && resolved.size == 1 && resolved.warning.empty()) {
      resolved.warning = fmt::format(
          "synergy: the pod belongs to no gang, because there is no {} of "
          "scheduling.k8s.io/v1beta1: create it before its pods",
          group->described);
    }
    return resolved;
  }
  return SizeByGroup(*group, answer.gang);
}

ResolvedGang GangOwners::InStages(const wire::GangOwner& set) {
  return {.overrules = true,
          .warning = fmt::format(
              "synergy: the pod belongs to no gang, because {} creates pods of the gang {} only "
              "when other pods of it are ready (dependsOn, startupPolicy). Without the labels "
              "synergy.io/gang and synergy.io/gang-size each of its replicated jobs is a gang",
              set.described, set.label)};
}

ResolvedGang GangOwners::SizeByGroup(const wire::GangOwner& group,
                                     const wire::GangSize& gang) const {
  if (gang.size == 1) return {};
  const int32_t size = SizeOfMembers(group.gang);
  if (size > 1 && size != gang.size) {
    return {.warning = fmt::format("synergy: the pod belongs to no gang, because {} has a minCount "
                                   "of {}, and its pods were created with one of {}",
                                   group.described, gang.size, size)};
  }
  ResolvedGang resolved{.size = gang.size, .name = group.label, .within = std::string(gang.within)};
  if (!resolved.within.empty()) {
    resolved.warning = fmt::format(
        "synergy: the topology of {} is only a preference: the gang waits a while for one {}, and "
        "may be spread further after that",
        group.described, resolved.within);
  }
  return resolved;
}

ResolvedGang GangOwners::SizeByOwner(const PodToAdmit& pod, Instant end) {
  const std::optional<wire::GangOwner> owner = wire::FindGangOwner(pod);
  if (!owner) return {};
  const Answer answer = Ask(pod, *owner, end);
  if (!answer.failure.empty()) return WithoutRead(*owner, answer.failure);
  // A pod that joins later, or may leave, trains with the gang, but the gang does not wait for it.
  if (!wire::IsMember(answer.gang, *owner)) return {};
  if (answer.gang.size == 1 || !answer.gang.begun) return {.size = answer.gang.size};
  return {.size = SizeOfMembers(owner->gang) == answer.gang.size ? answer.gang.size : 1};
}

ResolvedGang GangOwners::WithoutRead(const wire::GangOwner& owner,
                                     const std::string& failure) const {
  const int32_t size = SizeOfMembers(owner.gang);
  if (size > 1) return {.size = size, .name = owner.label};
  return {.warning = fmt::format("synergy: the pod belongs to no gang, because {} could not be "
                                 "read: {}. Set the label synergy.io/gang-size instead",
                                 owner.described, failure)};
}

int32_t GangOwners::SizeOfMembers(const std::string& gang) const {
  for (const GangMember& member : state_.GangMembers(gang)) {
    if (member.pod->gang->problem.empty()) return member.pod->gang->size;
  }
  return 1;
}

GangOwners::Answer GangOwners::Ask(const PodToAdmit& pod, const wire::GangOwner& owner,
                                   Instant end) {
  // The UID of the pod's creator keeps answers for owners with equal names apart, even if `owner`
  // is known only by name.
  const std::string key = fmt::format("{} {} {} {} {}", owner.path, pod.owner.uid, owner.replicas,
                                      owner.gang, owner.group);
  std::unique_lock lock(mutex_);
  const Instant now = clock_.Now();
  if (const auto found = unreadable_.find(owner.gang); found != unreadable_.end()) {
    if (now < found->second) {
      const auto known = answers_.find(key);
      if (known != answers_.end() && known->second.IsRemembered(now)) return known->second;
      return {.done = true, .gang = {}, .failure = "an earlier read failed", .until = {}};
    }
    unreadable_.erase(found);
  }
  if (const auto found = answers_.find(key); found != answers_.end()) {
    // A read is bounded in time, and so is the wait for it. References into the map stay valid as
    // long as the entry does, and an entry is never forgotten during its read.
    const Answer& answer = found->second;
    if (!answer.done) {
      Answer mine;
      answered_.wait(lock, [&] {
        const auto again = answers_.find(key);
        if (again == answers_.end()) return true;
        mine = again->second;
        return mine.done;
      });
      if (mine.done) return mine;
    } else if (now < answer.until) {
      return answer;
    }
  }
  Forget(now);
  const Answer before = std::exchange(answers_[key], {});
  lock.unlock();
  Answer answer = Read(pod.pod_namespace, owner, end);
  lock.lock();
  if (!answer.failure.empty() && before.IsRemembered(now)) {
    answer = before;
    answer.until = clock_.Now() + kGood;
  }
  // If this process has sized the owner's first pods, the pods that the owner now counts carry the
  // size. A RayCluster is an exception: it counts only running workers, and when they run, the gang
  // has all its members.
  const bool counts_at_once = owner.kind != wire::GangOwnerKind::kRayCluster;
  if (counts_at_once && before.gang.size == answer.gang.size && !before.gang.begun)
    answer.gang.begun = false;
  if (!answer.failure.empty()) unreadable_[owner.gang] = answer.until;
  answers_[key] = answer;
  answered_.notify_all();
  return answer;
}

GangOwners::Answer GangOwners::Read(const std::string& its_namespace, const wire::GangOwner& owner,
                                    Instant end) {
  Answer answer{.done = true, .gang = {}, .failure = {}, .until = clock_.Now() + kGood};
  const kube::Deadline deadline(clock_, std::max(end - clock_.Now(), Duration::zero()));
  const Result<std::string> text = client_.Get(owner.path, deadline.token());
  if (!text && text.error().code == ErrorCode::kNotFound) {
    metrics_.CountGangRead("missing");
    answer.missing = true;
    return answer;
  }
  Error error;
  if (text) {
    wire::GpusInTemplates gpus{gpu_resource_};
    if (gpus_of_template_) {
      gpus.of_claim = [&](std::string_view name) {
        return gpus_of_template_(its_namespace, std::string(name));
      };
    }
    const Result<wire::GangSize> gang = wire::ReadGangSize(*text, owner, gpus);
    if (gang) {
      metrics_.CountGangRead("read");
      answer.gang = *gang;
      answer.read = clock_.Now();
      return answer;
    }
    error = gang.error();
  } else {
    error = text.error();
  }
  metrics_.CountGangRead("failed");
  log_.Warn("cannot read a gang's owner", {{"owner", owner.described}, {"error", error.message}});
  answer.failure = error.message;
  answer.until = clock_.Now() + kFailed;
  return answer;
}

void GangOwners::Forget(Instant now) {
  const bool full = answers_.size() >= kMostKept;
  std::erase_if(answers_, [&](const auto& each) {
    return each.second.done && (full || each.second.until + kRemembered <= now);
  });
  const bool many = unreadable_.size() >= kMostKept;
  std::erase_if(unreadable_, [&](const auto& each) { return many || each.second <= now; });
}

}  // namespace synergy::controller
