#include "cluster/state/cluster_state.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "cluster/state/pod_list.h"
#include "core/check.h"

namespace synergy {

namespace change = cluster_change;

std::unique_lock<std::mutex> ClusterState::Lock() const {
  const std::lock_guard turn(turn_);
  return std::unique_lock(mutex_);
}

// Applies the changes. Call it under the mutex.
struct ClusterState::Maker {
  ClusterState& state;

  void operator()(change::ReplaceNodes call) {
    for (Node& node : call.nodes) node = state.devices_.Counted(std::move(node));
    state.nodes_.Replace(std::move(call.nodes));
    state.pods_.LookAtClaims();
  }
  void operator()(change::UpsertNode call) {
    state.nodes_.Put(state.devices_.Counted(std::move(call.node)));
    state.pods_.LookAtClaims();
  }
  void operator()(const change::RemoveNode& call) {
    state.devices_.ForgetNode(call.name);
    state.nodes_.Remove(call.name);
    state.pods_.LookAtClaims();
  }

  void operator()(change::PutListedPods call) {
    state.pods_.PutListed(std::move(call.pods), call.observed_until);
    state.pods_.CountDevices();
  }
  void operator()(change::UpsertPod call) {
    state.pods_.Put(std::move(call.pod));
    state.pods_.CountDevices();
  }
  void operator()(const change::RemovePod& call) {
    state.pods_.Remove(call.uid);
    state.pods_.CountDevices();
  }
  void operator()(change::RefreshPod call) {
    state.pods_.Refresh(std::move(call.pod));
    state.pods_.CountDevices();
  }

  void operator()(change::CountDevices call) { state.devices_.SetRules(std::move(call.rules)); }
  void operator()(change::ReplaceResourceClaims call) {
    state.devices_.Replace(std::move(call.claims));
    ApplyDevices();
  }
  void operator()(change::UpsertResourceClaim call) {
    state.devices_.Put(std::move(call.claim));
    ApplyDevices();
  }
  void operator()(const change::RemoveResourceClaim& call) {
    state.devices_.RemoveClaim(call.uid);
    ApplyDevices();
  }
  void operator()(change::ReplaceResourceSlices call) {
    state.devices_.Replace(std::move(call.slices));
    ApplyDevices();
  }
  void operator()(change::UpsertResourceSlice call) {
    state.devices_.Put(std::move(call.slice));
    ApplyDevices();
  }
  void operator()(const change::RemoveResourceSlice& call) {
    state.devices_.RemoveSlice(call.name);
    ApplyDevices();
  }
  void operator()(change::ReplaceDeviceClasses call) {
    state.devices_.Replace(std::move(call.classes));
    ApplyDevices();
  }
  void operator()(change::UpsertDeviceClass call) {
    state.devices_.Put(std::move(call.device_class));
    ApplyDevices();
  }
  void operator()(const change::RemoveDeviceClass& call) {
    state.devices_.RemoveClass(call.name);
    ApplyDevices();
  }

  // Recounts the nodes and pods that the last report changed.
  void ApplyDevices() {
    const std::set<std::string> nodes = state.devices_.TakeNodes();
    for (const std::string& name : nodes) {
      const auto place = state.nodes_.Find(name);
      if (!place || !state.nodes_[*place].exists) continue;
      state.nodes_.Put(state.devices_.Counted(NodeOf(state.nodes_[*place])));
    }
    if (!nodes.empty()) state.pods_.LookAtClaims();
    state.pods_.CountDevices();
  }

  void operator()(change::ReplaceDisruptionBudgets call) { SetBudgets(std::move(call.budgets)); }
  void operator()(change::UpsertDisruptionBudget call) {
    std::vector<DisruptionBudget> budgets = BudgetsBut(call.budget.uid);
    budgets.push_back(std::move(call.budget));
    SetBudgets(std::move(budgets));
  }
  void operator()(const change::RemoveDisruptionBudget& call) { SetBudgets(BudgetsBut(call.uid)); }

  void operator()(change::ReplaceLimitRanges call) {
    ChangeLimits([&](NamespaceLimits& limits) {
      limits.ClearRanges();
      for (LimitRange& range : call.ranges) limits.Put(std::move(range));
      return true;
    });
  }
  void operator()(change::UpsertLimitRange call) {
    ChangeLimits([&](auto& limits) { return limits.Put(std::move(call.range)); });
  }
  void operator()(const change::RemoveLimitRange& call) {
    ChangeLimits([&](auto& limits) { return limits.RemoveRange(call.uid); });
  }
  void operator()(change::ReplaceResourceQuotas call) {
    ChangeLimits([&](NamespaceLimits& limits) {
      limits.ClearQuotas();
      for (ResourceQuota& quota : call.quotas) limits.Put(std::move(quota));
      return true;
    });
  }
  void operator()(change::UpsertResourceQuota call) {
    ChangeLimits([&](auto& limits) { return limits.Put(std::move(call.quota)); });
  }
  void operator()(const change::RemoveResourceQuota& call) {
    ChangeLimits([&](auto& limits) { return limits.RemoveQuota(call.uid); });
  }

  void operator()(change::Expect call) {
    state.pods_.Expect(std::move(call.pod), call.node, call.deadline);
  }
  AssumeOutcome operator()(change::Assume call) {
    return state.pods_.Assume(std::move(call.pod), call.node, call.deadline);
  }
  void operator()(const change::Forget& call) { state.pods_.Forget(call.uid); }
  void operator()(const change::Extend& call) { state.pods_.Extend(call.uid, call.deadline); }
  void operator()(const change::DropStaleExpectations& call) {
    state.pods_.DropStaleExpectations(call.now, call.wall);
  }
  void operator()(const change::KeepNews&) { state.pods_.KeepNews(); }

  bool operator()(const change::Reserve& call) {
    return state.pods_.Reserve(call.places, call.deadline);
  }
  void operator()(const change::Release& call) { state.pods_.Release(call.uids); }
  void operator()(const change::ReleaseKept& call) { state.pods_.ReleaseKept(call.uids); }
  void operator()(const change::NoteSucceeded& call) {
    state.pods_.NoteSucceeded(call.gang, call.members);
  }
  void operator()(const change::ReserveForReplacements& call) {
    state.pods_.ReserveForReplacements(call.hold, call.now);
  }
  void operator()(const change::SettleReplacement& call) {
    state.pods_.SettleReplacement(call.uid, call.is_awaited);
  }

  std::vector<DisruptionBudget> BudgetsBut(const std::string& uid) const {
    std::vector<DisruptionBudget> budgets = *state.budgets_;
    std::erase_if(budgets, [&](const auto& other) { return other.uid == uid; });
    return budgets;
  }
  void SetBudgets(std::vector<DisruptionBudget> budgets) {
    state.budgets_ = std::make_shared<const std::vector<DisruptionBudget>>(std::move(budgets));
    state.version_.Advance();
  }
  // Calls change(limits), which returns whether it changed anything.
  template <class ChangeThem>
  void ChangeLimits(ChangeThem change) {
    auto limits = std::make_shared<NamespaceLimits>(*state.limits_);
    if (!change(*limits)) return;
    state.limits_ = std::move(limits);
    state.version_.Advance();
  }
};

template <class Call>
auto ClusterState::Make(Call call) {
  const auto lock = Lock();
  return MakeLocked(std::move(call));
}

template <class Call>
auto ClusterState::MakeLocked(Call call) {
  // Copy the change first, because its execution may move its arguments.
  std::optional<ClusterChange> written;
  if (journal_ != nullptr) written = ClusterChange{call};
  Maker make{*this};
  if constexpr (requires { call.outcome; }) {
    auto outcome = make(std::move(call));
    if (written) std::get<Call>(written->call).outcome = outcome;
    Made(written);
    return outcome;
  } else {
    make(std::move(call));
    Made(written);
  }
}

void ClusterState::Made(std::optional<ClusterChange>& written) {
  const bool is_present = snapshot_ && snapshot_->version() == version_.present() &&
                          snapshot_->pods_observed_until() == pods_.observed_until();
  if (!is_present) snapshot_ = nullptr;
  if (!written) return;
  written->version = version_.present();
  journal_->Wrote(*written);
}

Result<> ClusterState::Apply(const ClusterChange& change) {
  bool same_outcome = true;
  std::visit(
      [&](const auto& call) {
        if constexpr (requires { call.outcome; }) {
          same_outcome = Make(call) == call.outcome;
        } else {
          Make(call);
        }
      },
      change.call);
  if (!same_outcome) {
    return Fail(ErrorCode::kConflict,
                fmt::format("version {}: a pod is assumed with another outcome", change.version));
  }
  if (const uint64_t present = version(); present != change.version) {
    return Fail(ErrorCode::kConflict,
                fmt::format("version {} instead of {}", present, change.version));
  }
  return {};
}

void ClusterState::ReplacePods(std::vector<Pod> pods) {
  PodList list(*this, std::move(pods));
  while (list.Step()) {
  }
}

void ClusterState::PutListed(std::vector<Pod> pods, uint64_t observed_until) {
  MakeLocked(change::PutListedPods{std::move(pods), observed_until});
}

void ClusterState::Remove(const std::string& uid) { MakeLocked(change::RemovePod{uid}); }

void ClusterState::ReplaceNodes(std::vector<Node> nodes) {
  Make(change::ReplaceNodes{std::move(nodes)});
}

void ClusterState::UpsertNode(Node node) { Make(change::UpsertNode{std::move(node)}); }

void ClusterState::RemoveNode(const std::string& name) { Make(change::RemoveNode{name}); }

void ClusterState::PutListedPods(std::vector<Pod> pods, uint64_t observed_until) {
  Make(change::PutListedPods{std::move(pods), observed_until});
}

void ClusterState::UpsertPod(Pod pod) { Make(change::UpsertPod{std::move(pod)}); }

void ClusterState::RemovePod(const std::string& uid) { Make(change::RemovePod{uid}); }

void ClusterState::RefreshPod(Pod pod) { Make(change::RefreshPod{std::move(pod)}); }

void ClusterState::ReplaceDisruptionBudgets(std::vector<DisruptionBudget> budgets) {
  Make(change::ReplaceDisruptionBudgets{std::move(budgets)});
}

void ClusterState::UpsertDisruptionBudget(DisruptionBudget budget) {
  Make(change::UpsertDisruptionBudget{std::move(budget)});
}

void ClusterState::RemoveDisruptionBudget(const std::string& uid) {
  Make(change::RemoveDisruptionBudget{uid});
}

void ClusterState::ReplaceLimitRanges(std::vector<LimitRange> ranges) {
  Make(change::ReplaceLimitRanges{std::move(ranges)});
}

void ClusterState::UpsertLimitRange(LimitRange range) {
  Make(change::UpsertLimitRange{std::move(range)});
}

void ClusterState::RemoveLimitRange(const std::string& uid) { Make(change::RemoveLimitRange{uid}); }

void ClusterState::ReplaceResourceQuotas(std::vector<ResourceQuota> quotas) {
  Make(change::ReplaceResourceQuotas{std::move(quotas)});
}

void ClusterState::UpsertResourceQuota(ResourceQuota quota) {
  Make(change::UpsertResourceQuota{std::move(quota)});
}

void ClusterState::RemoveResourceQuota(const std::string& uid) {
  Make(change::RemoveResourceQuota{uid});
}

void ClusterState::CountDevices(DeviceRules rules) { Make(change::CountDevices{std::move(rules)}); }

void ClusterState::ReplaceResourceClaims(std::vector<ResourceClaim> claims) {
  Make(change::ReplaceResourceClaims{std::move(claims)});
}

void ClusterState::UpsertResourceClaim(ResourceClaim claim) {
  Make(change::UpsertResourceClaim{std::move(claim)});
}

void ClusterState::RemoveResourceClaim(const std::string& uid) {
  Make(change::RemoveResourceClaim{uid});
}

void ClusterState::ReplaceResourceSlices(std::vector<ResourceSlice> slices) {
  Make(change::ReplaceResourceSlices{std::move(slices)});
}

void ClusterState::UpsertResourceSlice(ResourceSlice slice) {
  Make(change::UpsertResourceSlice{std::move(slice)});
}

void ClusterState::RemoveResourceSlice(const std::string& name) {
  Make(change::RemoveResourceSlice{name});
}

void ClusterState::ReplaceDeviceClasses(std::vector<DeviceClass> classes) {
  Make(change::ReplaceDeviceClasses{std::move(classes)});
}

void ClusterState::UpsertDeviceClass(DeviceClass device_class) {
  Make(change::UpsertDeviceClass{std::move(device_class)});
}

void ClusterState::RemoveDeviceClass(const std::string& name) {
  Make(change::RemoveDeviceClass{name});
}

Pod ClusterState::WithDevices(Pod pod) const {
  if (!pod.devices) return pod;
  const auto lock = Lock();
  return devices_.Counted(std::move(pod));
}

void ClusterState::Expect(const Pod& pod, NodeIndex node, Instant deadline) {
  Make(change::Expect{pod, node, deadline});
}

AssumeOutcome ClusterState::Assume(const Pod& pod, const std::string& node, Instant deadline) {
  return Make(change::Assume{pod, node, deadline, {}});
}

void ClusterState::Forget(const std::string& uid) { Make(change::Forget{uid}); }

bool ClusterState::Reserve(const std::vector<GangPlace>& places, Instant deadline) {
  return Make(change::Reserve{places, deadline});
}

void ClusterState::Release(const std::vector<std::string>& uids) { Make(change::Release{uids}); }

void ClusterState::ReleaseKept(const std::vector<std::string>& uids) {
  Make(change::ReleaseKept{uids});
}

void ClusterState::NoteSucceeded(const std::string& gang, size_t members) {
  Make(change::NoteSucceeded{gang, members});
}

void ClusterState::ReserveForReplacements(Duration hold, Instant now) {
  Make(change::ReserveForReplacements{hold, now});
}

void ClusterState::SettleReplacement(const std::string& uid, bool is_awaited) {
  Make(change::SettleReplacement{uid, is_awaited});
}

void ClusterState::Extend(const std::string& uid, Instant deadline) {
  Make(change::Extend{uid, deadline});
}

void ClusterState::DropStaleExpectations(Instant now, WallTime wall) {
  Make(change::DropStaleExpectations{now, wall});
}

void ClusterState::KeepNews() { Make(change::KeepNews{}); }

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

std::vector<std::shared_ptr<const Pod>> ClusterState::WaitingSharers() const {
  const auto lock = Lock();
  return pods_.WaitingSharers();
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

DeviceCatalog::Counts ClusterState::known_devices() const {
  const auto lock = Lock();
  return devices_.counts();
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
  snapshot->pods_observed_until_ = pods_.observed_until();
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
