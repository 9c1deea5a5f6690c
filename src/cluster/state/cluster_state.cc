#include "cluster/state/cluster_state.h"

#include <utility>

#include "cluster/state/cluster_journal.h"
#include "cluster/state/pod_list.h"
#include "core/check.h"

namespace synergy {

namespace change = cluster_change;

std::unique_lock<std::mutex> ClusterState::Lock() const {
  const std::lock_guard turn(turn_);
  return std::unique_lock(mutex_);
}

template <class Describe, class Make>
void ClusterState::Change(Describe describe, Make make) {
  const auto lock = Lock();
  ChangeHeld(describe, make);
}

template <class Describe, class Make>
void ClusterState::ChangeHeld(Describe describe, Make make) {
  std::optional<ClusterChange> written;
  // Describe first, because make() may move the arguments.
  if (journal_ != nullptr) written = ClusterChange{describe()};
  make();
  Made(written);
}

void ClusterState::Made(std::optional<ClusterChange>& written) {
  const bool is_present = snapshot_ && snapshot_->version() == version_.present() &&
                          snapshot_->pods_heard_until() == pods_.heard_until();
  if (!is_present) snapshot_ = nullptr;
  if (!written) return;
  written->version = version_.present();
  journal_->Wrote(*written);
}

void ClusterState::ReplaceNodes(std::vector<Node> nodes) {
  Change([&] { return change::ReplaceNodes{nodes}; },
         [&] {
           nodes_.Replace(std::move(nodes));
           pods_.LookAtClaims();
         });
}

void ClusterState::UpsertNode(Node node) {
  Change([&] { return change::UpsertNode{node}; },
         [&] {
           nodes_.Put(std::move(node));
           pods_.LookAtClaims();
         });
}

void ClusterState::RemoveNode(const std::string& name) {
  Change([&] { return change::RemoveNode{name}; },
         [&] {
           nodes_.Remove(name);
           pods_.LookAtClaims();
         });
}

void ClusterState::ReplacePods(std::vector<Pod> pods) {
  PodList list(*this, std::move(pods));
  while (list.Step()) {
  }
}

void ClusterState::PutListedPods(std::vector<Pod> pods, uint64_t heard_until) {
  const auto lock = Lock();
  PutListed(std::move(pods), heard_until);
}

void ClusterState::PutListed(std::vector<Pod> pods, uint64_t heard_until) {
  ChangeHeld([&] { return change::PutListedPods{pods, heard_until}; },
             [&] { pods_.PutListed(std::move(pods), heard_until); });
}

void ClusterState::UpsertPod(Pod pod) {
  Change([&] { return change::UpsertPod{pod}; }, [&] { pods_.Put(std::move(pod)); });
}

void ClusterState::RemovePod(const std::string& uid) {
  const auto lock = Lock();
  Remove(uid);
}

void ClusterState::Remove(const std::string& uid) {
  ChangeHeld([&] { return change::RemovePod{uid}; }, [&] { pods_.Remove(uid); });
}

void ClusterState::RefreshPod(Pod pod) {
  Change([&] { return change::RefreshPod{pod}; }, [&] { pods_.Refresh(std::move(pod)); });
}

void ClusterState::SetBudgets(std::vector<DisruptionBudget> budgets) {
  budgets_ = std::make_shared<const std::vector<DisruptionBudget>>(std::move(budgets));
  version_.Advance();
}

void ClusterState::ReplaceDisruptionBudgets(std::vector<DisruptionBudget> budgets) {
  Change([&] { return change::ReplaceDisruptionBudgets{budgets}; },
         [&] { SetBudgets(std::move(budgets)); });
}

void ClusterState::UpsertDisruptionBudget(DisruptionBudget budget) {
  Change([&] { return change::UpsertDisruptionBudget{budget}; },
         [&] {
           std::vector<DisruptionBudget> budgets = *budgets_;
           std::erase_if(budgets, [&](const auto& other) { return other.uid == budget.uid; });
           budgets.push_back(std::move(budget));
           SetBudgets(std::move(budgets));
         });
}

void ClusterState::RemoveDisruptionBudget(const std::string& uid) {
  Change([&] { return change::RemoveDisruptionBudget{uid}; },
         [&] {
           std::vector<DisruptionBudget> budgets = *budgets_;
           std::erase_if(budgets, [&](const auto& other) { return other.uid == uid; });
           SetBudgets(std::move(budgets));
         });
}

template <class ChangeThem>
void ClusterState::ChangeLimits(ChangeThem change) {
  auto limits = std::make_shared<NamespaceLimits>(*limits_);
  if (!change(*limits)) return;
  limits_ = std::move(limits);
  version_.Advance();
}

void ClusterState::ReplaceLimitRanges(std::vector<LimitRange> ranges) {
  Change([&] { return change::ReplaceLimitRanges{ranges}; },
         [&] {
           ChangeLimits([&](NamespaceLimits& limits) {
             limits.ClearRanges();
             for (LimitRange& range : ranges) limits.Put(std::move(range));
             return true;
           });
         });
}

void ClusterState::UpsertLimitRange(LimitRange range) {
  Change([&] { return change::UpsertLimitRange{range}; },
         [&] { ChangeLimits([&](auto& limits) { return limits.Put(std::move(range)); }); });
}

void ClusterState::RemoveLimitRange(const std::string& uid) {
  Change([&] { return change::RemoveLimitRange{uid}; },
         [&] { ChangeLimits([&](auto& limits) { return limits.RemoveRange(uid); }); });
}

void ClusterState::ReplaceResourceQuotas(std::vector<ResourceQuota> quotas) {
  Change([&] { return change::ReplaceResourceQuotas{quotas}; },
         [&] {
           ChangeLimits([&](NamespaceLimits& limits) {
             limits.ClearQuotas();
             for (ResourceQuota& quota : quotas) limits.Put(std::move(quota));
             return true;
           });
         });
}

void ClusterState::UpsertResourceQuota(ResourceQuota quota) {
  Change([&] { return change::UpsertResourceQuota{quota}; },
         [&] { ChangeLimits([&](auto& limits) { return limits.Put(std::move(quota)); }); });
}

void ClusterState::RemoveResourceQuota(const std::string& uid) {
  Change([&] { return change::RemoveResourceQuota{uid}; },
         [&] { ChangeLimits([&](auto& limits) { return limits.RemoveQuota(uid); }); });
}

void ClusterState::Expect(const Pod& pod, NodeIndex node, Instant deadline) {
  Change([&] { return change::Expect{pod, node, deadline}; },
         [&] { pods_.Expect(pod, node, deadline); });
}

AssumeOutcome ClusterState::Assume(const Pod& pod, const std::string& node, Instant deadline) {
  const auto lock = Lock();
  AssumeOutcome outcome = pods_.Assume(pod, node, deadline);
  std::optional<ClusterChange> written;
  if (journal_ != nullptr) written = ClusterChange{change::Assume{pod, node, deadline, outcome}};
  Made(written);
  return outcome;
}

void ClusterState::Forget(const std::string& uid) {
  Change([&] { return change::Forget{uid}; }, [&] { pods_.Forget(uid); });
}

bool ClusterState::Reserve(const std::vector<GangPlace>& places, Instant deadline) {
  const auto lock = Lock();
  const bool reserved = pods_.Reserve(places, deadline);
  std::optional<ClusterChange> written;
  if (journal_ != nullptr) written = ClusterChange{change::Reserve{places, deadline, reserved}};
  Made(written);
  return reserved;
}

void ClusterState::Release(const std::vector<std::string>& uids) {
  Change([&] { return change::Release{uids}; }, [&] { pods_.Release(uids); });
}

void ClusterState::ReserveForReplacements(Duration hold) {
  Change([&] { return change::ReserveForReplacements{hold}; },
         [&] { pods_.ReserveForReplacements(hold); });
}

void ClusterState::SettleReplacement(const std::string& uid, bool is_awaited) {
  Change([&] { return change::SettleReplacement{uid, is_awaited}; },
         [&] { pods_.SettleReplacement(uid, is_awaited); });
}

std::vector<Reservation> ClusterState::Reservations(ReservationKind kind) const {
  const auto lock = Lock();
  return pods_.Reservations(kind);
}

std::vector<Reservation> ClusterState::ReplacementsOf(const std::string& gang) const {
  const auto lock = Lock();
  return pods_.ReplacementsOf(gang);
}

std::vector<GangMember> ClusterState::GangMembers(const std::string& gang) const {
  const auto lock = Lock();
  return pods_.GangMembers(gang);
}

void ClusterState::Extend(const std::string& uid, Instant deadline) {
  Change([&] { return change::Extend{uid, deadline}; }, [&] { pods_.Extend(uid, deadline); });
}

void ClusterState::DropStaleExpectations(Instant now, WallTime wall) {
  Change([&] { return change::DropStaleExpectations{now, wall}; },
         [&] { pods_.DropStaleExpectations(now, wall); });
}

void ClusterState::KeepNews() {
  Change([] { return change::KeepNews{}; }, [&] { pods_.KeepNews(); });
}

ClusterNews ClusterState::TakeNews() {
  const auto lock = Lock();
  return {MakeSnapshot(), pods_.TakeNews()};
}

void ClusterState::DropNews() {
  const auto lock = Lock();
  pods_.DropNews();
}

std::vector<std::shared_ptr<const Pod>> ClusterState::WaitingPods() const {
  const auto lock = Lock();
  return pods_.WaitingPods();
}

std::optional<Placement> ClusterState::FindPlacement(const std::string& uid) const {
  const auto lock = Lock();
  return pods_.FindPlacement(uid);
}

std::vector<AssumedPod> ClusterState::Expired(Instant now) const {
  const auto lock = Lock();
  return pods_.Expired(now);
}

std::shared_ptr<const Pod> ClusterState::FindPod(const std::string& uid) const {
  const auto lock = Lock();
  return pods_.FindPod(uid);
}

size_t ClusterState::assumed_pods() const {
  const auto lock = Lock();
  return pods_.assumed();
}

size_t ClusterState::known_pods() const {
  const auto lock = Lock();
  return pods_.known();
}

uint64_t ClusterState::version() const {
  const auto lock = Lock();
  return version_.present();
}

std::shared_ptr<const ClusterSnapshot> ClusterState::Snapshot() const {
  const auto lock = Lock();
  return MakeSnapshot();
}

std::shared_ptr<const ClusterSnapshot> ClusterState::MakeSnapshot() const {
  if (snapshot_) return snapshot_;
  auto snapshot = std::make_shared<ClusterSnapshot>();
  snapshot->nodes_ = nodes_.Share();
  snapshot->names_ = nodes_.ShareNames();
  snapshot->scalars_ = nodes_.ShareScalars();
  snapshot->budgets_ = budgets_;
  snapshot->limits_ = limits_;
  snapshot->gangs_ = pods_.ShareGangs();
  if (limits_->quotas() > 0) snapshot->being_given_ = pods_.BeingGiven();
  snapshot->largest_node_ = nodes_.Largest();
  snapshot->least_per_gpu_ = pods_.LeastPerGpuOfAll();
  snapshot->waiting_gpu_pods_ = pods_.waiting_gpu_pods();
  snapshot->pods_heard_until_ = pods_.heard_until();
  snapshot->version_ = version_.present();
  snapshot_ = std::move(snapshot);
  return snapshot_;
}

void ClusterState::SetJournal(ClusterJournal* journal) {
  const auto lock = Lock();
  SYNERGY_CHECK(journal_ == nullptr, "one journal for all time");
  journal_ = journal;
}

}  // namespace synergy
