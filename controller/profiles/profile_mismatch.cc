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
  const std::vector<std::string>& products = node.detail->gpu_kinds.products;
  const auto verdict = finder_.Observe(
      memory_, pod, node.allocatable.cpu, products.size() == 1 ? products.front() : std::string(),
      {object.generation, object.profile}, progress.pod, progress.since, at);
  if (!verdict) return;
  {
    const std::lock_guard lock(mutex_);
    verdicts_.insert_or_assign({pod->pod_namespace, name}, *verdict);
    ++version_;
  }
  if (verdict->verdict != Verdict::kContradicted) return;
  log_.Warn("profile contradicted", {{"profile", object.Key()},
                                     {"generation", object.generation},
                                     {"pod", pod->Key()},
                                     {"seen", verdict->message}});
  events_.Record({pod->pod_namespace, pod->name, pod->uid, "Warning", "SynergyProfileContradicted",
                  fmt::format("its speed contradicts profile {}: {}", name, verdict->message)});
}

ProfileVerdict ProfileMismatch::Of(const std::string& profile_namespace, const std::string& name,
                                   int64_t generation) const {
  const std::lock_guard lock(mutex_);
  const auto found = verdicts_.find({profile_namespace, name});
  if (found == verdicts_.end() || found->second.generation != generation) return {};
  return found->second;
}

uint64_t ProfileMismatch::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

}  // namespace synergy::controller
