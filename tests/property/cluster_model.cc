#include "property/cluster_model.h"

#include <algorithm>
#include <vector>

namespace synergy::testing {

void ClusterModel::PutNode(const Node& node) {
  nodes_[node.name] = node;
  WaitAnew();
}

void ClusterModel::DropNode(const std::string& name) {
  nodes_.erase(name);
  WaitAnew();
}

void ClusterModel::KeepNodes(const std::set<std::string>& names) {
  std::erase_if(nodes_, [&names](const auto& node) { return !names.contains(node.first); });
  WaitAnew();
}

void ClusterModel::KeepPods(const std::set<std::string>& uids) {
  std::erase_if(pods_,
                [&uids](const auto& pod) { return pod.second.seen && !uids.contains(pod.first); });
}

void ClusterModel::Watch(const Pod& pod) {
  if (pod.terminal) return DropPod(pod.uid);
  Entry& entry = pods_[pod.uid];
  if (pod.node.empty() && entry.standing == Standing::kBound) return;
  const Pod placed = entry.pod;
  entry.pod = pod;
  entry.seen = pod;
  if (!pod.node.empty()) {
    entry.standing = Standing::kBound;
  } else if (entry.standing == Standing::kWaiting || entry.standing == Standing::kKept) {
    Wait(entry);
  } else {
    entry.pod.node = placed.node;
    if (entry.standing == Standing::kAssumed) {
      entry.pod.requests.main = LargerOf(pod.requests.main, placed.requests.main);
    }
  }
}

void ClusterModel::List(const Pod& pod) {
  const auto known = pods_.find(pod.uid);
  if (known != pods_.end() && known->second.standing == Standing::kBound && pod.node.empty())
    known->second.standing = Standing::kWaiting;
  Watch(pod);
}

void ClusterModel::Expect(const Pod& pod, const std::string& node, Instant deadline) {
  if (!nodes_.contains(node)) return;
  const auto it = pods_.find(pod.uid);
  if (it != pods_.end() && it->second.standing != Standing::kWaiting &&
      it->second.standing != Standing::kExpected)
    return;
  Entry& entry = pods_[pod.uid];
  entry.pod = pod;
  entry.pod.node = node;
  entry.standing = Standing::kExpected;
  entry.deadline = deadline;
}

bool ClusterModel::Assume(const Pod& pod, const std::string& node, Instant deadline) {
  const auto it = pods_.find(pod.uid);
  if (it != pods_.end() && it->second.standing == Standing::kBound) return false;
  if (!Fits(pod, node, false)) {
    if (it != pods_.end() && it->second.standing == Standing::kExpected) GiveUp(pod.uid);
    return false;
  }
  if (!Fits(pod, node, true)) {
    std::vector<std::string> in_the_way;
    for (const auto& [uid, entry] : pods_) {
      if (entry.standing == Standing::kExpected && entry.pod.node == node && uid != pod.uid)
        in_the_way.push_back(uid);
    }
    for (const std::string& uid : in_the_way) GiveUp(uid);
  }
  Entry& entry = pods_[pod.uid];
  entry.pod = pod;
  entry.pod.node = node;
  entry.standing = Standing::kAssumed;
  entry.deadline = deadline;
  return true;
}

void ClusterModel::Forget(const std::string& uid) {
  const auto it = pods_.find(uid);
  if (it != pods_.end() && it->second.standing == Standing::kAssumed) GiveUp(uid);
}

void ClusterModel::Extend(const std::string& uid, Instant deadline) {
  const auto it = pods_.find(uid);
  if (it != pods_.end() && it->second.standing == Standing::kAssumed)
    it->second.deadline = deadline;
}

std::set<std::string> ClusterModel::Expired(Instant now) const {
  std::set<std::string> expired;
  for (const auto& [uid, entry] : pods_) {
    if (entry.standing == Standing::kAssumed && entry.deadline <= now) expired.insert(uid);
  }
  return expired;
}

void ClusterModel::DropStaleExpectations(Instant now, WallTime wall) {
  wall_ = wall;
  std::vector<std::string> stale;
  for (const auto& [uid, entry] : pods_) {
    const bool expired = entry.standing == Standing::kExpected && entry.deadline <= now;
    const bool over = entry.standing == Standing::kKept && entry.pod.waiting->kept_until <= wall;
    if (expired || over) stale.push_back(uid);
  }
  for (const std::string& uid : stale) GiveUp(uid);
  // The wall clock may also have gone back.
  WaitAnew();
}

void ClusterModel::GiveUp(const std::string& uid) {
  Entry& entry = pods_.at(uid);
  if (!entry.seen) {
    pods_.erase(uid);
    return;
  }
  Wait(entry);
}

void ClusterModel::Wait(Entry& entry) const {
  entry.standing = Standing::kWaiting;
  entry.pod = *entry.seen;
  const Waiting* waiting = entry.pod.waiting.get();
  if (waiting == nullptr || waiting->kept_until <= wall_) return;
  const auto node = nodes_.find(waiting->kept_node);
  if (node == nodes_.end()) return;
  const ResourceVector& all = node->second.allocatable.main;
  const ResourceVector& wanted = entry.pod.requests.main;
  if (wanted.gpus > all.gpus || wanted.cpu > all.cpu || wanted.memory > all.memory) return;
  entry.standing = Standing::kKept;
  entry.pod.node = waiting->kept_node;
}

void ClusterModel::WaitAnew() {
  for (auto& [uid, entry] : pods_) {
    if (entry.standing == Standing::kWaiting || entry.standing == Standing::kKept) Wait(entry);
  }
}

bool ClusterModel::Fits(const Pod& pod, const std::string& node, bool beside_expected) const {
  const auto it = nodes_.find(node);
  if (it == nodes_.end()) return false;
  const Node& where = it->second;
  if (where.deleting || (where.unschedulable && !pod.tolerates_unschedulable)) return false;
  ResourceVector taken;
  int64_t cards = 0;
  int64_t count = 0;
  for (const auto& [uid, entry] : pods_) {
    if (entry.standing == Standing::kWaiting || entry.pod.node != node || uid == pod.uid) continue;
    if (entry.standing == Standing::kExpected && !beside_expected) continue;
    taken += entry.pod.requests.main;
    cards += entry.pod.requests.other.Get(kCard);
    ++count;
  }
  const auto fits = [](auto wanted, auto taken_there, auto all) {
    return wanted == decltype(wanted)() || taken_there + wanted <= all;
  };
  const ResourceVector& wanted = pod.requests.main;
  const ResourceVector& all = where.allocatable.main;
  return count + 1 <= where.pods_allowed && fits(wanted.gpus, taken.gpus, all.gpus) &&
         fits(wanted.cpu, taken.cpu, all.cpu) && fits(wanted.memory, taken.memory, all.memory) &&
         fits(pod.requests.other.Get(kCard), cards, where.allocatable.other.Get(kCard));
}

bool ClusterModel::AfterGpus(const Entry& entry) {
  if (entry.pod.requests.main.gpus == Gpus(0)) return false;
  return entry.standing != Standing::kWaiting || (!entry.pod.gated && !entry.pod.deleting);
}

ClusterPhoto ClusterModel::Photo() const {
  ClusterPhoto photo;
  photo.largest_node = {Gpus(1), MilliCpu(1), Bytes(1)};
  for (const auto& [name, node] : nodes_) {
    NodePhoto& shown = photo.nodes[name];
    shown.exists = true;
    shown.unschedulable = node.unschedulable;
    shown.deleting = node.deleting;
    shown.pods_allowed = node.pods_allowed;
    shown.allocatable = node.allocatable.main;
    shown.cards = node.allocatable.other.Get(kCard);
    photo.largest_node.gpus = std::max(photo.largest_node.gpus, node.allocatable.main.gpus);
    photo.largest_node.cpu = std::max(photo.largest_node.cpu, node.allocatable.main.cpu);
    photo.largest_node.memory = std::max(photo.largest_node.memory, node.allocatable.main.memory);
  }
  for (const auto& [uid, entry] : pods_) {
    const ResourceVector& wanted = entry.pod.requests.main;
    if (AfterGpus(entry)) {
      const ResourceVector each{Gpus(1), MilliCpu(wanted.cpu.count() / wanted.gpus.count()),
                                Bytes(wanted.memory.count() / wanted.gpus.count())};
      // Zero means "not known yet".
      ResourceVector& least = photo.least_per_gpu;
      const auto lesser = [](auto a, auto b) {
        const auto zero = decltype(a)(0);
        return a == zero || b == zero ? std::max(a, b) : std::min(a, b);
      };
      least = {Gpus(1), lesser(least.cpu, each.cpu), lesser(least.memory, each.memory)};
      if (entry.standing == Standing::kWaiting) ++photo.waiting_gpu_pods;
    }
    if (entry.standing == Standing::kWaiting) continue;
    NodePhoto& shown = photo.nodes[entry.pod.node];
    shown.pods.insert(uid);
    shown.requested += wanted;
    shown.cards_taken += entry.pod.requests.other.Get(kCard);
    if (!entry.pod.fungible) shown.of_others += wanted;
  }
  return photo;
}

size_t ClusterModel::assumed_pods() const {
  return static_cast<size_t>(std::count_if(pods_.begin(), pods_.end(), [](const auto& pod) {
    return pod.second.standing == Standing::kAssumed;
  }));
}

std::optional<std::string> ClusterModel::PlacedOn(const std::string& uid) const {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return std::nullopt;
  const Entry& entry = it->second;
  if (entry.standing == Standing::kWaiting || entry.standing == Standing::kBound)
    return std::nullopt;
  return entry.pod.node;
}

}  // namespace synergy::testing
