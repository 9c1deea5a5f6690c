#include "engine/tuner/loans.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "allocation/pod_share.h"
#include "allocation/surplus.h"
#include "cluster/devices/device_safety.h"
#include "engine/tuner/node_shares.h"
#include "engine/tuner/reclaim.h"
#include "engine/tuner/resizes.h"

namespace synergy {
namespace {

constexpr Duration kLookForLoans = std::chrono::seconds(10);
// How often to look at reports while there are loans.
constexpr Duration kLookForBusy = std::chrono::milliseconds(500);
// The least CPU that an idle pod keeps, and the smallest loan that is worth two changes.
constexpr MilliCpu kKept(1000);
constexpr MilliCpu kLeastLoan(500);

bool Lends(const Pod& pod) { return pod.fungible && pod.fungible->Lends() > MilliCpu(0); }

// Returns whether the agent has reported the pod idle for long enough.
bool IsIdle(const TunerPass& pass, const std::string& uid) {
  if (pass.settings.idle_after <= Duration::zero()) return false;
  const auto found = pass.memory.idle.find(uid);
  return found != pass.memory.idle.end() && pass.at.now - found->second.reported <= kIdleIsFresh &&
         found->second.idle >= pass.settings.idle_after;
}

// Returns whether a pod that already lends may still be idle. Without a report, assumes so for
// kIdleIsFresh after the start of this process, because agents need time to report.
bool StaysIdle(const TunerPass& pass, const std::string& uid) {
  if (pass.settings.idle_after <= Duration::zero()) return false;
  const auto found = pass.memory.idle.find(uid);
  const bool known = found != pass.memory.idle.end();
  if (known && found->second.idle < pass.settings.idle_after) return false;
  const Instant until = (known ? found->second.reported : pass.memory.started) + kIdleIsFresh;
  return pass.at.now <= until;
}

bool IsResting(const TunerPass& pass, const std::string& uid) {
  const auto resting = pass.memory.resting.find(uid);
  return resting != pass.memory.resting.end() && resting->second > pass.at.now;
}

// Returns whether no change of the pod is in progress.
bool IsAtRest(const TunerPass& pass, const Pod& pod) {
  return !pass.memory.changes.contains(pod.uid) && !pass.memory.asked.contains(pod.uid) &&
         IsSettled(pod);
}

bool MayStep(const TunerPass& pass, const Pod& pod, const NodeState& node) {
  if (pod.deleting || pod.fungible->ChangedByHand() || !IsAtRest(pass, pod) ||
      !MayResize(pod, node)) {
    return false;
  }
  const auto retry = pass.memory.loan_retries.find(pod.uid);
  return retry == pass.memory.loan_retries.end() || retry->second <= pass.at.now;
}

// A pod that borrows or may borrow, and the CPU that is lent to it.
struct Borrower {
  std::shared_ptr<const Pod> pod;  // null: gone
  MilliCpu lent;                   // in total
  MilliCpu goes_on;                // the part from loans that continue
  MilliCpu ready;                  // the part that lenders no longer use
};

struct Loan {
  std::shared_ptr<const Pod> lender;
  Borrower* borrower = nullptr;
  bool goes_on = false;
};

struct NodeLoans {
  std::vector<Loan> loans;
  std::map<std::string, Borrower> borrowers;  // by uid
};

// Returns whether the loan may continue, as far as its two pods are concerned.
bool GoesOn(const TunerPass& pass, const Pod& lender, const Borrower& borrower,
            const NodeState& node) {
  const Pod* const pod = borrower.pod.get();
  return !lender.deleting && pod != nullptr && pod->fungible && !pod->deleting &&
         !pod->fungible->ChangedByHand() && !pod->fungible->leaves && !lender.fungible->leaves &&
         !Lends(*pod) && MayResize(*pod, node) &&
         !(IsResting(pass, pod->uid) && pod->fungible->Borrows() == MilliCpu(0)) &&
         StaysIdle(pass, lender.uid);
}

// `all_end`: a pod waits for room on the node.
NodeLoans LoansOn(const TunerPass& pass, const NodeState& node, bool all_end) {
  NodeLoans found;
  for (const auto& pod : node.detail->pods) {
    if (Lends(*pod)) {
      Borrower& borrower = found.borrowers[pod->fungible->change->borrower];
      found.loans.push_back({pod, &borrower});
    } else if (pod->fungible && pod->fungible->Borrows() > MilliCpu(0)) {
      found.borrowers[pod->uid].pod = pod;
    }
  }
  for (const auto& pod : node.detail->pods) {
    const auto borrower = found.borrowers.find(pod->uid);
    if (borrower != found.borrowers.end()) borrower->second.pod = pod;
  }
  for (Loan& loan : found.loans) {
    const MilliCpu amount = loan.lender->fungible->Lends();
    loan.goes_on = !all_end && GoesOn(pass, *loan.lender, *loan.borrower, node);
    loan.borrower->lent += amount;
    if (!loan.goes_on) continue;
    loan.borrower->goes_on += amount;
    if (IsAtRest(pass, *loan.lender)) loan.borrower->ready += amount;
  }
  return found;
}

// Records on the pod that it borrows only `borrowed`, because the lenders of the rest are gone.
void Keep(TunerPass& pass, const std::shared_ptr<const Pod>& pod, MilliCpu borrowed) {
  const ManagedContainer& fungible = *pod->fungible;
  tuner_action::Record record;
  record.change = {ChangeKind::kGrown,
                   fungible.requested,
                   fungible.requested,
                   "the pod that lent it CPU is gone",
                   pass.at.wall,
                   fungible.change->MemoryChanged(),
                   borrowed};
  pass.memory.loan_retries[pod->uid] = pass.at.now + pass.settings.retry;
  pass.Do({pod, std::move(record)});
}

void Move(TunerPass& pass, const Borrower& borrower, const NodeState& node) {
  const std::shared_ptr<const Pod>& pod = borrower.pod;
  if (pod == nullptr || !pod->fungible || !MayStep(pass, *pod, node)) return;
  const MilliCpu has = pod->fungible->Borrows();
  const MilliCpu cpu = pod->fungible->requested.cpu;
  if (has > borrower.lent) {
    Keep(pass, pod, borrower.lent);
  } else if (has > borrower.goes_on) {
    MoveLoan(pass, pod, ChangeKind::kGivenBack, cpu - (has - borrower.goes_on), borrower.goes_on,
             {}, "the pods that lent it CPU need it");
  } else if (has < borrower.ready && !IsResting(pass, pod->uid) &&
             !pod->fungible->ProbedAt(pass.at.wall)) {
    MoveLoan(pass, pod, ChangeKind::kBorrowed, cpu + (borrower.ready - has), borrower.ready, {},
             fmt::format("lent by idle pods on node {}", node.detail->name));
  }
}

bool HasChanges(const TunerMemory& memory, const std::string& node) {
  const auto is_there = [&](const auto& entry) { return entry.second.node == node; };
  return std::any_of(memory.changes.begin(), memory.changes.end(), is_there) ||
         std::any_of(memory.asked.begin(), memory.asked.end(), is_there);
}

// Cuts other pods on the lender's node to replace the CPU that it lent, because another scheduler
// has given that CPU to other pods.
void CutPeers(TunerPass& pass, const Pod& lender, const NodeState& node) {
  if (HasChanges(pass.memory, node.detail->name)) return;
  const MilliCpu lacking = MilliCpu(0) - WithNominated(node).Free().cpu;
  const NodeShares peers = SharesOn(node, SharePurpose::kReclaim, pass.rules());
  const auto amounts = Reclaim(peers.shares, {Gpus(0), lacking, Bytes(0)});
  if (!amounts) return;
  for (size_t i = 0; i < amounts->size(); ++i) {
    if ((*amounts)[i] == peers.shares[i].current) continue;
    Cut(pass, peers.pods[i], (*amounts)[i], ChangeKind::kReclaimed,
        fmt::format("pod {} needs the CPU that it had lent", lender.Key()));
  }
}

void Return(TunerPass& pass, const Loan& loan, const NodeState& node) {
  const Pod& lender = *loan.lender;
  if (!MayStep(pass, lender, node)) return;
  const Pod* const borrower = loan.borrower->pod.get();
  const bool has_it =
      borrower != nullptr && borrower->fungible &&
      (borrower->fungible->Borrows() > loan.borrower->goes_on || !IsAtRest(pass, *borrower));
  if (has_it) return;
  if (!HasCpu(pass.cluster, node.detail->name)) {
    CutPeers(pass, lender, node);
    return;
  }
  const ManagedContainer& fungible = *lender.fungible;
  MoveLoan(pass, loan.lender, ChangeKind::kReturned, fungible.requested.cpu + fungible.Lends(),
           MilliCpu(0), fungible.change->borrower, "it has got back the CPU that it had lent");
}

// The shares of a node, and how much CPU each could use beyond its own and the node's spare CPU.
struct Neighbours {
  NodeShares shares;
  std::vector<MilliCpu> wants;
};

Neighbours NeighboursOn(const TunerPass& pass, const NodeState& node) {
  Neighbours found{SharesOn(node, SharePurpose::kDivide, pass.rules()), {}};
  const ResourceVector spare =
      LargerOf(WithNominated(node).Free() - pass.settings.headroom, ResourceVector{});
  for (size_t i = 0; i < found.shares.shares.size(); ++i) {
    const PodShare& share = found.shares.shares[i];
    const Pod& pod = *found.shares.pods[i];
    const bool borrows = !found.shares.keeps[i] && !pod.gang && !IsIdle(pass, pod.uid);
    found.wants.push_back(borrows ? share.most.cpu - share.current.cpu - spare.cpu : MilliCpu(0));
  }
  return found;
}

MilliCpu MayLend(const TunerPass& pass, const Pod& pod, const NodeState& node) {
  const ManagedContainer& fungible = *pod.fungible;
  if (!IsIdle(pass, pod.uid) || pod.gang || fungible.enforcement == Enforcement::kStrict ||
      fungible.guaranteed || fungible.Borrows() > MilliCpu(0) || IsResting(pass, pod.uid) ||
      !MayStep(pass, pod, node) ||
      pass.cluster.limits().HasQuota(pod.pod_namespace, &ResourceVector::cpu)) {
    return MilliCpu(0);
  }
  const MilliCpu used = pass.memory.idle.at(pod.uid).most_cpu;
  const MilliCpu kept =
      std::max({kKept, used + MilliCpu(used.count() / 4), fungible.init_peak.cpu});
  return fungible.requested.cpu - kept;
}

// Lends up to `most` of the pod's CPU to the neighbour that gains most from it.
void Lend(TunerPass& pass, const std::shared_ptr<const Pod>& lender, MilliCpu most,
          Neighbours& neighbours) {
  std::optional<size_t> best;
  double best_gain = 0;
  ResourceVector best_amounts;
  for (size_t i = 0; i < neighbours.wants.size(); ++i) {
    const PodShare& share = neighbours.shares.shares[i];
    ResourceVector amounts = share.current;
    amounts.cpu = share.Step(amounts.cpu + std::min(most, neighbours.wants[i]));
    if (amounts.cpu - share.current.cpu < kLeastLoan) continue;
    const double had = NormalizedThroughput(share, share.current);
    const double gain = NormalizedThroughput(share, amounts) - had;
    if (gain <= best_gain || gain < had * pass.settings.least_gain) continue;
    best = i;
    best_gain = gain;
    best_amounts = amounts;
  }
  if (!best) return;
  PodShare& share = neighbours.shares.shares[*best];
  const Pod& borrower = *neighbours.shares.pods[*best];
  const MilliCpu amount = best_amounts.cpu - share.current.cpu;
  MoveLoan(pass, lender, ChangeKind::kLent, lender->fungible->requested.cpu - amount, MilliCpu(0),
           borrower.uid, fmt::format("it is idle; pod {} borrows the CPU", borrower.Key()));
  neighbours.wants[*best] -= amount;
  share.current = best_amounts;
}

}  // namespace

void ReturnLoans(TunerPass& pass) {
  std::set<std::string> nodes;
  for (const auto& [uid, pod] : pass.memory.in_loans) nodes.insert(pod->node);
  if (!nodes.empty()) pass.WakeAt(pass.at.now + kLookForBusy);
  const std::set<std::string> to_place_on = NodesToPlaceOn(pass, nodes);
  for (const std::string& name : nodes) {
    const auto index = pass.cluster.Find(name);
    if (!index || !pass.cluster.node(*index).exists) continue;
    const NodeState& node = pass.cluster.node(*index);
    const NodeLoans found = LoansOn(pass, node, to_place_on.contains(name));
    for (const auto& [uid, borrower] : found.borrowers) Move(pass, borrower, node);
    for (const Loan& loan : found.loans) {
      if (!loan.goes_on) Return(pass, loan, node);
    }
  }
}

void MakeLoans(TunerPass& pass) {
  TunerMemory& memory = pass.memory;
  if (pass.settings.idle_after <= Duration::zero()) return;
  if (pass.at.now < memory.next_loans) {
    pass.WakeAt(memory.next_loans);
    return;
  }
  memory.next_loans = pass.at.now + kLookForLoans;
  pass.WakeAt(memory.next_loans);
  std::set<std::string> nodes;
  for (const auto& [uid, idle] : memory.idle) {
    if (IsIdle(pass, uid)) nodes.insert(idle.node);
  }
  for (const std::string& name : NodesToPlaceOn(pass, nodes)) nodes.erase(name);
  for (const std::string& name : nodes) {
    const auto index = pass.cluster.Find(name);
    if (!index || !pass.cluster.node(*index).exists) continue;
    const NodeState& node = pass.cluster.node(*index);
    if (HasChanges(memory, name)) continue;
    Neighbours neighbours = NeighboursOn(pass, node);
    for (const auto& pod : neighbours.shares.pods) {
      const MilliCpu most = MayLend(pass, *pod, node);
      if (most >= kLeastLoan) Lend(pass, pod, most, neighbours);
    }
  }
}

}  // namespace synergy
