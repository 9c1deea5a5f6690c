#include "record/replayed_run.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "allocation/asked_nodes.h"
#include "allocation/bind_allocation.h"
#include "allocation/candidates.h"
#include "allocation/preemption.h"
#include "allocation/ranking.h"

namespace synergy::record {
namespace {

class RecordedNodes final : public AskedNodes {
 public:
  explicit RecordedNodes(const decision::Asked& asked) : asked_(asked) {}

  size_t size() const override { return asked_.nodes.size(); }
  std::string_view Name(size_t i) const override { return asked_.nodes[i]; }
  std::optional<Node> Sent(size_t i) const override {
    const auto sent = std::find_if(asked_.sent.begin(), asked_.sent.end(),
                                   [&](const Node& node) { return node.name == Name(i); });
    return sent == asked_.sent.end() ? std::nullopt : std::optional(*sent);
  }

 private:
  const decision::Asked& asked_;
};

}  // namespace

Result<> ReplayedRun::Change(const ClusterChange& change) {
  if (std::holds_alternative<cluster_change::KeepNews>(change.call)) news_.clear();
  const Result<> applied = state_.Apply(change);
  for (PodNews& item : state_.TakeNews().pods) news_.push_back(std::move(item));
  return applied;
}

Decision ReplayedRun::Decide(const Decision& recorded) {
  return std::visit([this](const auto& decision) { return Again(decision); }, recorded);
}

Decision ReplayedRun::Again(decision::Filter recorded) {
  const auto snapshot = state_.Snapshot();
  const decision::Asked& asked = recorded.asked;
  const RecordedNodes nodes(asked);
  Candidates candidates(*snapshot, asked.pod, CountedAt(*snapshot, asked.counted_on, asked.pod.uid),
                        nodes);
  recorded.version = snapshot->version();
  recorded.fitting.clear();
  std::optional<PassingCheck> passing;
  if (recorded.passing) passing.emplace(*snapshot, asked.pod, *recorded.passing);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidates::Candidate node = candidates.Judge(i);
    if (node.failures.none() && (!passing || passing->RefusedBy(*node.state) == nullptr))
      recorded.fitting.emplace_back(nodes.Name(i));
  }
  return recorded;
}

Decision ReplayedRun::Again(decision::Prioritize recorded) {
  const auto snapshot = state_.Snapshot();
  const decision::Asked& asked = recorded.asked;
  const RecordedNodes nodes(asked);
  std::optional<PlacementNeeds> storage;
  if (recorded.storage) storage.emplace(*recorded.storage);
  const Ranking ranking =
      RankNodes(*snapshot, asked.pod, CountedAt(*snapshot, asked.counted_on, asked.pod.uid), nodes,
                recorded.reserve, {recorded.avoided.begin(), recorded.avoided.end()},
                storage ? &*storage : nullptr);
  std::vector<uint8_t> points(nodes.size(), 0);
  ranking.GivePoints(points, recorded.slack);
  recorded.version = snapshot->version();
  recorded.points.assign(points.begin(), points.end());
  recorded.best = ranking.best_node();
  return recorded;
}

Decision ReplayedRun::Again(decision::Bind recorded) {
  const auto snapshot = state_.Snapshot();
  recorded.version = snapshot->version();
  recorded.planned =
      PlanAtBind(recorded.pod, recorded.node, *snapshot, recorded.reserve, recorded.common)
          .requests.main;
  return recorded;
}

Decision ReplayedRun::Again(decision::Preempt recorded) {
  const auto snapshot = state_.Snapshot();
  std::vector<std::pair<std::string, std::vector<std::string>>> proposed;
  for (const auto& victims : recorded.proposed) proposed.emplace_back(victims.node, victims.uids);
  recorded.version = snapshot->version();
  std::vector<NodeVictims> chosen =
      SelectVictimsByNode(*snapshot, recorded.pod, proposed, recorded.reclaims_at);
  if (recorded.passing) DropReserved(*snapshot, recorded.pod, *recorded.passing, chosen);
  recorded.chosen = decision::Describe(chosen);
  return recorded;
}

Decision ReplayedRun::Again(decision::TunerSet recorded) {
  tuner_.emplace(recorded.settings, profiles_, &storage_);
  return recorded;
}

Decision ReplayedRun::Again(decision::ProfilesHeld recorded) {
  HeldProfiles::ByName profiles;
  for (const decision::HeldProfile& held : recorded.profiles) {
    TunedProfile& profile = profiles[{held.profile_namespace, held.name}];
    profile.generation = held.generation;
    profile.measured = held.measured;
    if (!held.training) continue;
    Result<JobProfile> made = MakeJobProfile(*held.training);
    if (!made) continue;
    profile.profile = std::make_shared<const JobProfile>(*std::move(made));
    if (held.training->cached)
      profile.cached = std::make_shared<const TrainingProfile>(*held.training);
  }
  profiles_.Hold(std::move(profiles), recorded.profiles_version);
  return recorded;
}

Decision ReplayedRun::Again(decision::TunerStartedOver recorded) {
  memory_ = Tuner::StartOver(recorded.at);
  asked_.clear();
  return recorded;
}

Decision ReplayedRun::Again(decision::TunerDecided recorded) {
  for (uint64_t observed = 0; observed < recorded.news && !news_.empty(); ++observed) {
    tuner_->Observe(memory_, news_.front(), recorded.at);
    news_.pop_front();
  }
  const auto snapshot = state_.Snapshot();
  const TunerPlan plan = tuner_->Plan(*snapshot, memory_, recorded.at);
  for (size_t i = 0; i < plan.actions.size(); ++i) {
    asked_.insert_or_assign(recorded.first + i, plan.actions[i]);
  }
  recorded.version = snapshot->version();
  recorded.actions = plan.actions;
  recorded.wake = plan.wake;
  recorded.round = plan.round;
  return recorded;
}

Decision ReplayedRun::Again(decision::IdleReported recorded) {
  tuner_->ObserveIdle(memory_, recorded.pods);
  return recorded;
}

Decision ReplayedRun::Again(decision::StorageReported recorded) {
  tuner_->ObserveStorage(memory_, storage_.Hold(recorded.facts));
  return recorded;
}

Decision ReplayedRun::Again(decision::ReservationsReported recorded) {
  tuner_->ObserveReservations(memory_, recorded.reservations);
  return recorded;
}

Decision ReplayedRun::Again(decision::TunerLearned recorded) {
  // The action is missing only if its decision has fewer actions than recorded, which is reported
  // already.
  if (const auto asked = asked_.extract(recorded.action); !asked.empty()) {
    tuner_->OnResult(memory_, asked.mapped(), recorded.done, recorded.at);
  }
  return recorded;
}

}  // namespace synergy::record
