#include "controller/profiles/profile_mismatch.h"

#include <vector>

#include <fmt/format.h>

namespace synergy::controller {

void ProfileMismatch::StartOver() {
  memory_ = {};
  const std::lock_guard lock(mutex_);
  verdicts_.clear();
  ++version_;
}

void ProfileMismatch::Observe(const std::shared_ptr<const Pod>& pod, const NodeState& node,
                              const KnownProgress& progress, Moment at) {
  const std::string& name = pod->fungible->profile;
  const auto known = profiles_.Find(pod->pod_namespace, name);
  if (!known || known->object.measured || known->object.profile == nullptr) return;
  const ProfileObject& object = known->object;
  const auto verdict = finder_.Observe(
      memory_, pod, node.allocatable.cpu, node.detail->gpu_kinds.OnlyProduct(),
      {{object.uid, object.generation}, object.profile}, progress.pod, progress.since, at);
  if (!verdict) return;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(verdicts_, [this](const auto& entry) {
      return !profiles_.Find(entry.first.first, entry.first.second);
    });
    verdicts_.insert_or_assign({pod->pod_namespace, name}, *verdict);
    ++version_;
  }
  if (verdict->verdict != Verdict::kContradicted) return;
  log_.Warn("profile contradicted", {{"profile", object.Key()},
                                     {"generation", object.generation},
                                     {"pod", pod->Key()},
                                     {"seen", verdict->message}});
  events_.Record(
      kube::AboutPod(*pod, "Warning", "SynergyProfileContradicted",
                     fmt::format("its speed contradicts profile {}: {}", name, verdict->message)));
}

ProfileVerdict ProfileMismatch::Of(const ProfileObject& object) const {
  const std::lock_guard lock(mutex_);
  const auto found = verdicts_.find({object.profile_namespace, object.name});
  if (found == verdicts_.end() ||
      found->second.version != ProfileVersion{object.uid, object.generation}) {
    return {};
  }
  return found->second;
}

uint64_t ProfileMismatch::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

}  // namespace synergy::controller
