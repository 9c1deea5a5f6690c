#include "cluster/cluster_state.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/check.h"

namespace synergy {
namespace {

enum class Standing { kWaiting, kExpected, kAssumed, kBound };

struct Record {
  std::shared_ptr<const Pod>
      pod;  // `pod->node` says where it is counted when standing is not kWaiting
  Standing standing = Standing::kWaiting;
  NodeIndex place = 0;  // meaningful unless kWaiting
  Instant deadline{};   // kExpected, kAssumed
  // As the watch reported it; null until it has (expectations may come first).
  std::shared_ptr<const Pod> seen;
};

// The deadline of a place that the tuner keeps for a waiting pod: the pod says until when.
constexpr Instant kHeld = Instant::max();

// The least CPU and memory per GPU over a changing set of pods.
class LeastPerGpu {
 public:
  void Add(const ResourceVector& requests) {
    ResourceVector::ForEachDivided([&, amounts = amounts_.begin()](auto member) mutable {
      (amounts++)->insert((requests.*member).count() / requests.gpus.count());
    });
  }
  void Remove(const ResourceVector& requests) {
    ResourceVector::ForEachDivided([&, amounts = amounts_.begin()](auto member) mutable {
      amounts->erase(amounts->find((requests.*member).count() / requests.gpus.count()));
      ++amounts;
    });
  }
  ResourceVector Get() const {
    if (amounts_.front().empty()) return {};
    return ResourceVector::Make(
        Gpus(1), [amounts = amounts_.begin()](auto) mutable { return *(amounts++)->begin(); });
  }

 private:
  // By dimension, in the order of ForEachDivided.
  std::array<std::multiset<int64_t>, ResourceVector::kDivided> amounts_;
};

}  // namespace

// All of it under one mutex, held for short and bounded work only.
class ClusterState::Impl {
 public:
  mutable std::mutex mutex;

  void PutNode(Node node) {
    NodeState& state = nodes_.Mutable(PlaceOf(node.name));
    state = Describe(state, std::move(node));
    largest_node_.reset();
    Changed();
  }

  void DropNode(NodeIndex place) {
    NodeState& state = nodes_.Mutable(place);
    state = Describe(state, Node{.name = state.detail->name});
    state.exists = false;
    largest_node_.reset();
    ReleasePlaceIfEmpty(place);
    Changed();
  }

  std::optional<NodeIndex> FindNode(const std::string& name) const { return names_->Find(name); }

  template <class Keep>
  void DropNodesUnless(Keep keep) {
    for (NodeIndex place = 0; place < nodes_.size(); ++place) {
      if (nodes_[place].exists && !keep(nodes_[place].detail->name)) DropNode(place);
    }
  }

  void PutPod(Pod pod) {
    if (pod.terminal) {
      DropPod(pod.uid);
      return;
    }
    Record& record = records_[pod.uid];
    // No pod ever leaves its node while it lives: such news is older than what we know.
    if (pod.node.empty() && record.standing == Standing::kBound) return;
    record.seen = std::make_shared<const Pod>(std::move(pod));
    if (!record.seen->node.empty()) {
      SetRecord(record, record.seen, Standing::kBound, Instant{});
    } else if (record.standing == Standing::kWaiting || record.deadline == kHeld) {
      SetWaiting(record);
    } else {
      // The watch is behind our own decision: keep the place, take what is new about the pod.
      auto placed = std::make_shared<Pod>(*record.seen);
      placed->node = record.pod->node;
      // What it is being given counts until the watch says that it is bound with it.
      if (record.standing == Standing::kAssumed) {
        placed->requests.main = LargerOf(placed->requests.main, record.pod->requests.main);
      }
      SetRecord(record, std::move(placed), record.standing, record.deadline);
    }
  }

  void DropPod(const std::string& uid) {
    const auto it = records_.find(uid);
    if (it == records_.end()) return;
    Uncount(it->second);
    records_.erase(it);
    Changed();
  }

  template <class Keep>
  void DropObservedPodsUnless(Keep keep) {
    for (auto it = records_.begin(); it != records_.end();) {
      // What the watch has not reported yet may be younger than the list that is being applied.
      const bool gone = it->second.seen && !keep(it->first);
      const auto next = std::next(it);
      if (gone) DropPod(std::string(it->first));
      it = next;
    }
  }

  void Place(const Pod& pod, const std::string& node, Standing standing, Instant deadline) {
    Record& record = records_[pod.uid];
    auto placed = std::make_shared<Pod>(pod);
    placed->node = node;
    SetRecord(record, std::move(placed), standing, deadline);
  }

  // Back to waiting; a pod that only we have heard of is dropped.
  void Unplace(const std::string& uid) {
    const auto it = records_.find(uid);
    if (it == records_.end()) return;
    if (it->second.seen) {
      SetWaiting(it->second);
    } else {
      DropPod(uid);
    }
  }

  // Places kept beyond `wall` are given up, those that end later are honoured from now on.
  void SetWallTime(WallTime wall) { wall_ = wall; }
  std::vector<std::string> HoldsPast(WallTime wall) const {
    std::vector<std::string> past;
    for (const std::string& uid : provisional_) {
      const Record& record = records_.at(uid);
      if (record.deadline == kHeld && record.seen->waiting->hold_until <= wall) {
        past.push_back(uid);
      }
    }
    return past;
  }

  // The pods that are expected on the node, `uid` and those left out for which the place is kept.
  std::vector<std::shared_ptr<const Pod>> ExpectedOn(NodeIndex place,
                                                     const std::string& uid) const {
    std::vector<std::shared_ptr<const Pod>> expected;
    for (const auto& pod : nodes_[place].detail->pods) {
      if (pod->uid == uid) continue;
      const Record& record = records_.at(pod->uid);
      if (record.standing == Standing::kExpected && record.deadline != kHeld) {
        expected.push_back(pod);
      }
    }
    return expected;
  }

  Record* Find(const std::string& uid) {
    const auto it = records_.find(uid);
    return it == records_.end() ? nullptr : &it->second;
  }

  // The expected and assumed pods past their deadline.
  std::vector<const Record*> PastDeadline(Standing standing, Instant now) const {
    std::vector<const Record*> late;
    for (const std::string& uid : provisional_) {
      const Record& record = records_.at(uid);
      if (record.standing == standing && record.deadline <= now) late.push_back(&record);
    }
    return late;
  }

  size_t known() const { return records_.size(); }
  const NodeState& node(NodeIndex place) const { return nodes_[place]; }
  size_t assumed() const { return assumed_; }

  void SetBudgets(std::vector<DisruptionBudget> budgets) {
    budgets_ = std::make_shared<const std::vector<DisruptionBudget>>(std::move(budgets));
    Changed();
  }
  const std::vector<DisruptionBudget>& budgets() const { return *budgets_; }

  std::shared_ptr<const ClusterSnapshot> Snapshot() {
    if (snapshot_) return snapshot_;
    auto snapshot = std::make_shared<ClusterSnapshot>();
    snapshot->nodes_ = nodes_.Share();
    snapshot->names_ = names_;
    names_shared_ = true;
    snapshot->budgets_ = budgets_;
    snapshot->largest_node_ = LargestNode();
    snapshot->least_per_gpu_ = least_per_gpu_.Get();
    snapshot->waiting_gpu_pods_ = waiting_gpu_pods_;
    snapshot_ = std::move(snapshot);
    return snapshot_;
  }

 private:
  void Changed() { snapshot_ = nullptr; }

  NodeNames& MutableNames() {
    if (names_shared_) {
      names_ = std::make_shared<NodeNames>(*names_);
      names_shared_ = false;
    }
    return *names_;
  }

  // The place of the node called `name`, made if need be: pods may be heard of before their node.
  NodeIndex PlaceOf(const std::string& name) {
    if (const auto found = names_->Find(name)) return *found;
    NodeIndex place = 0;
    if (free_places_.empty()) {
      place = static_cast<NodeIndex>(nodes_.size());
      nodes_.Append();
    } else {
      place = free_places_.back();
      free_places_.pop_back();
    }
    NodeState& state = nodes_.Mutable(place);
    state = EmptyNode(Node{.name = name});
    state.exists = false;
    MutableNames().Insert(name, place);
    return place;
  }

  void ReleasePlaceIfEmpty(NodeIndex place) {
    const NodeState& state = nodes_[place];
    if (state.exists || !state.detail->pods.empty()) return;
    MutableNames().Erase(state.detail->name);
    free_places_.push_back(place);
  }

  void SetRecord(Record& record, std::shared_ptr<const Pod> pod, Standing standing,
                 Instant deadline) {
    if (record.pod) Uncount(record);
    record.pod = std::move(pod);
    record.standing = standing;
    record.deadline = deadline;
    Count(record);
    Changed();
  }

  // As the watch says: without a place, or where one is kept for it.
  void SetWaiting(Record& record) {
    const Waiting* waiting = record.seen->waiting.get();
    if (waiting == nullptr || waiting->hold.empty() || waiting->hold_until <= wall_) {
      SetRecord(record, record.seen, Standing::kWaiting, Instant{});
      return;
    }
    auto placed = std::make_shared<Pod>(*record.seen);
    placed->node = waiting->hold;
    SetRecord(record, std::move(placed), Standing::kExpected, kHeld);
  }

  // Whether the pod has GPUs or is after some: one that is held back by a gate, or leaves before it
  // came, is not.
  static bool TakesGpus(const Record& record) {
    const Pod& pod = *record.pod;
    return pod.UsesGpus() &&
           (record.standing != Standing::kWaiting || (!pod.gated && !pod.deleting));
  }

  void Count(Record& record) {
    const Pod& pod = *record.pod;
    if (TakesGpus(record)) least_per_gpu_.Add(pod.requests.main);
    if (record.standing == Standing::kWaiting) {
      if (TakesGpus(record)) ++waiting_gpu_pods_;
      return;
    }
    if (record.standing == Standing::kAssumed) ++assumed_;
    if (record.standing != Standing::kBound) provisional_.insert(pod.uid);
    record.place = PlaceOf(pod.node);
    NodeState& state = nodes_.Mutable(record.place);
    state = WithPod(state, record.pod);
  }

  void Uncount(Record& record) {
    const Pod& pod = *record.pod;
    if (TakesGpus(record)) least_per_gpu_.Remove(pod.requests.main);
    if (record.standing == Standing::kWaiting) {
      if (TakesGpus(record)) --waiting_gpu_pods_;
      return;
    }
    if (record.standing == Standing::kAssumed) --assumed_;
    if (record.standing != Standing::kBound) provisional_.erase(pod.uid);
    NodeState& state = nodes_.Mutable(record.place);
    state = WithoutPod(state, pod);
    SYNERGY_CHECK(state.pods >= 0, "no node holds less than no pods");
    ReleasePlaceIfEmpty(record.place);
  }

  ResourceVector LargestNode() {
    if (!largest_node_) {
      ResourceVector largest = ResourceVector::Make(Gpus(1), [](auto) { return 1; });
      for (NodeIndex place = 0; place < nodes_.size(); ++place) {
        const ResourceVector& allocatable = nodes_[place].allocatable;
        ResourceVector::ForEach(
            [&](auto member) { largest.*member = std::max(largest.*member, allocatable.*member); });
      }
      largest_node_ = largest;
    }
    return *largest_node_;
  }

  CowArray<NodeState> nodes_;
  std::shared_ptr<NodeNames> names_ = std::make_shared<NodeNames>();
  bool names_shared_ = false;  // a snapshot holds names_: copy before a change
  std::vector<NodeIndex> free_places_;
  std::unordered_map<std::string, Record> records_;
  std::set<std::string> provisional_;  // uids of the expected and the assumed
  std::shared_ptr<const std::vector<DisruptionBudget>> budgets_ =
      std::make_shared<const std::vector<DisruptionBudget>>();
  LeastPerGpu least_per_gpu_;
  std::optional<ResourceVector> largest_node_;
  size_t waiting_gpu_pods_ = 0;
  size_t assumed_ = 0;
  WallTime wall_{};
  std::shared_ptr<const ClusterSnapshot> snapshot_;
};

ClusterState::ClusterState() : impl_(std::make_unique<Impl>()) {}
ClusterState::~ClusterState() = default;

namespace {

template <class T, class Key>
std::vector<std::string> SortedKeys(const std::vector<T>& items, Key key) {
  std::vector<std::string> keys;
  keys.reserve(items.size());
  for (const T& item : items) keys.push_back(key(item));
  std::sort(keys.begin(), keys.end());
  return keys;
}

bool Contains(const std::vector<std::string>& sorted, const std::string& key) {
  return std::binary_search(sorted.begin(), sorted.end(), key);
}

}  // namespace

void ClusterState::ReplaceNodes(std::vector<Node> nodes) {
  const std::lock_guard lock(impl_->mutex);
  const auto names = SortedKeys(nodes, [](const Node& node) { return node.name; });
  impl_->DropNodesUnless([&names](const std::string& name) { return Contains(names, name); });
  for (Node& node : nodes) impl_->PutNode(std::move(node));
}

void ClusterState::UpsertNode(Node node) {
  const std::lock_guard lock(impl_->mutex);
  impl_->PutNode(std::move(node));
}

void ClusterState::RemoveNode(const std::string& name) {
  const std::lock_guard lock(impl_->mutex);
  const auto place = impl_->FindNode(name);
  if (place && impl_->node(*place).exists) impl_->DropNode(*place);
}

void ClusterState::ReplacePods(std::vector<Pod> pods) {
  const std::lock_guard lock(impl_->mutex);
  const auto uids = SortedKeys(pods, [](const Pod& pod) { return pod.uid; });
  impl_->DropObservedPodsUnless([&uids](const std::string& uid) { return Contains(uids, uid); });
  for (Pod& pod : pods) impl_->PutPod(std::move(pod));
}

void ClusterState::UpsertPod(Pod pod) {
  const std::lock_guard lock(impl_->mutex);
  impl_->PutPod(std::move(pod));
}

void ClusterState::RemovePod(const std::string& uid) {
  const std::lock_guard lock(impl_->mutex);
  impl_->DropPod(uid);
}

void ClusterState::RefreshPod(Pod pod) {
  const std::lock_guard lock(impl_->mutex);
  const Record* record = impl_->Find(pod.uid);
  if (record == nullptr) return;
  if (record->seen != nullptr && record->seen->resource_version > pod.resource_version) return;
  impl_->PutPod(std::move(pod));
}

void ClusterState::ReplaceDisruptionBudgets(std::vector<DisruptionBudget> budgets) {
  const std::lock_guard lock(impl_->mutex);
  impl_->SetBudgets(std::move(budgets));
}

void ClusterState::UpsertDisruptionBudget(DisruptionBudget budget) {
  const std::lock_guard lock(impl_->mutex);
  std::vector<DisruptionBudget> budgets = impl_->budgets();
  std::erase_if(budgets,
                [&budget](const DisruptionBudget& other) { return other.uid == budget.uid; });
  budgets.push_back(std::move(budget));
  impl_->SetBudgets(std::move(budgets));
}

void ClusterState::RemoveDisruptionBudget(const std::string& uid) {
  const std::lock_guard lock(impl_->mutex);
  std::vector<DisruptionBudget> budgets = impl_->budgets();
  std::erase_if(budgets, [&uid](const DisruptionBudget& other) { return other.uid == uid; });
  impl_->SetBudgets(std::move(budgets));
}

void ClusterState::Expect(const Pod& pod, NodeIndex node, Instant deadline) {
  const std::lock_guard lock(impl_->mutex);
  const Record* record = impl_->Find(pod.uid);
  if (record != nullptr &&
      (record->standing == Standing::kAssumed || record->standing == Standing::kBound))
    return;
  const NodeState& state = impl_->node(node);
  if (!state.exists) return;
  impl_->Place(pod, state.detail->name, Standing::kExpected, deadline);
}

std::optional<ClusterState::Hold> ClusterState::FindHold(const std::string& uid) const {
  const std::lock_guard lock(impl_->mutex);
  const Record* record = impl_->Find(uid);
  if (record == nullptr || record->standing == Standing::kWaiting ||
      record->standing == Standing::kBound) {
    return std::nullopt;
  }
  return Hold{record->place, record->pod};
}

AssumeOutcome ClusterState::Assume(const Pod& pod, const std::string& node, Instant deadline) {
  const std::lock_guard lock(impl_->mutex);
  const Record* record = impl_->Find(pod.uid);
  if (record != nullptr && record->standing == Standing::kBound) {
    return {.bound_to = record->pod->node};
  }
  const auto place = impl_->FindNode(node);
  NodeState state = place ? impl_->node(*place) : NodeState{};
  // Its own earlier share must not stand in its way.
  const bool counted = record != nullptr && record->standing != Standing::kWaiting;
  if (counted && record->place == place) state = WithoutPod(state, *record->pod);
  AssumeOutcome outcome;
  outcome.failures = CheckFit(pod, state);
  if (!outcome.failures.none() && place) {
    // Nor must an expectation: kube-scheduler, which counts what it has assumed, would not have
    // come here if it held true.
    const auto expected = impl_->ExpectedOn(*place, pod.uid);
    for (const auto& other : expected) state = WithoutPod(state, *other);
    outcome.failures = CheckFit(pod, state);
    if (outcome.failures.none()) {
      for (const auto& other : expected) impl_->Unplace(other->uid);
    }
  }
  if (outcome.failures.none()) {
    impl_->Place(pod, node, Standing::kAssumed, deadline);
    outcome.assumed = true;
  } else if (counted && record->standing == Standing::kExpected) {
    impl_->Unplace(pod.uid);
  }
  return outcome;
}

void ClusterState::Forget(const std::string& uid) {
  const std::lock_guard lock(impl_->mutex);
  const Record* record = impl_->Find(uid);
  if (record != nullptr && record->standing == Standing::kAssumed) impl_->Unplace(uid);
}

std::vector<AssumedPod> ClusterState::Expired(Instant now) const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<AssumedPod> expired;
  for (const Record* record : impl_->PastDeadline(Standing::kAssumed, now)) {
    expired.push_back({record->pod, record->deadline});
  }
  return expired;
}

void ClusterState::Extend(const std::string& uid, Instant deadline) {
  const std::lock_guard lock(impl_->mutex);
  Record* record = impl_->Find(uid);
  if (record != nullptr && record->standing == Standing::kAssumed) record->deadline = deadline;
}

void ClusterState::DropStaleExpectations(Instant now, WallTime wall) {
  const std::lock_guard lock(impl_->mutex);
  impl_->SetWallTime(wall);
  for (const std::string& uid : impl_->HoldsPast(wall)) impl_->Unplace(uid);
  for (const Record* record : impl_->PastDeadline(Standing::kExpected, now)) {
    impl_->Unplace(std::string(record->pod->uid));
  }
}

std::shared_ptr<const Pod> ClusterState::FindPod(const std::string& uid) const {
  const std::lock_guard lock(impl_->mutex);
  const Record* record = impl_->Find(uid);
  if (record == nullptr) return nullptr;
  return record->seen ? record->seen : record->pod;
}

size_t ClusterState::assumed_pods() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->assumed();
}

size_t ClusterState::known_pods() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->known();
}

std::shared_ptr<const ClusterSnapshot> ClusterState::Snapshot() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->Snapshot();
}

}  // namespace synergy
