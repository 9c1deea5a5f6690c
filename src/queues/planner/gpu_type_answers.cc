#include "queues/planner/gpu_type_answers.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "queues/planner/judged_policies.h"
#include "queues/round_workload.h"

namespace synergy {
namespace {

// A workload with its check and, on the leader, its decided turn.
struct Checked {
  std::shared_ptr<const Workload> workload;
  size_t check = 0;
  const GpuTypeTurn* turn = nullptr;
};

// Returns the ClusterQueues whose policy chooses types, even if it cannot do so at present.
std::set<std::string> QueuesWithTypes(const QueueObjects& objects) {
  std::set<std::string> queues;
  for (const JudgedPolicy& policy : JudgePolicies(objects)) {
    if (!policy.policy->ChoosesTypes() || !policy.rounds) continue;
    for (const auto& [name, queue] : policy.queues) {
      if (queue.problem.empty()) queues.insert(name);
    }
  }
  return queues;
}

// The known GPU pods of a workload.
struct KnownPods {
  Gpus placed;            // their GPUs on nodes
  bool unplaced = false;  // some have no node
};

// Returns, by product, the GPUs of admitted workloads whose pods have no node yet.
std::map<std::string, int64_t> GpusOnTheirWay(const QueueObjects& objects, WallTime now) {
  std::unordered_map<std::string, KnownPods> known;  // by the workload's key
  for (const auto& [uid, pod] : objects.pods) {
    if (!pod->has_gpus) continue;
    KnownPods& pods = known[pod->pod_namespace + "/" + pod->workload];
    if (pod->has_node) pods.placed += pod->gpus;
    pods.unplaced |= !pod->has_node;
  }
  std::map<std::string, int64_t> gpus;
  for (const auto& [key, workload] : objects.workloads) {
    if (workload->finished || !workload->has_quota || workload->evicted) continue;
    const auto check = OurCheck(objects, *workload);
    if (!check) continue;
    const CheckState& state = workload->checks[*check];
    if (state.state != ToString(CheckPhase::kReady)) continue;
    const KnownPods& pods = known[key];
    // By now, pods that are still unknown probably have nodes.
    if (!pods.unplaced && now >= state.since + kMostStart) continue;
    const Gpus missing = workload->gpus - pods.placed;
    if (missing > Gpus(0)) gpus[state.product] += missing.count();
  }
  return gpus;
}

TypeAnswer Answer(const Checked& checked, CheckPhase phase, WallTime now, std::string message,
                  std::string product = {}) {
  return {
      checked.workload, checked.check, {phase, std::move(product), std::move(message), now}, {}};
}

// Returns the answer that makes Kueue evict a running workload.
TypeAnswer TakeType(const Checked& running, WallTime now) {
  const GpuTypeTurn& turn = *running.turn;
  std::string why = fmt::format("its turn on {} ends: another job is next", turn.on);
  std::string message = fmt::format(
      "loses its turn on {}: another job is next; it continues from its checkpoint later", turn.on);
  if (!turn.product.empty()) {
    why =
        fmt::format("its turn moves from {} to {}; speeds: {}", turn.on, turn.product, turn.speeds);
    message = fmt::format("moves from {} to {}; speeds: {}; it continues from its checkpoint",
                          turn.on, turn.product, turn.speeds);
  }
  TypeAnswer answer = Answer(running, CheckPhase::kRetry, now, std::move(why));
  // A workload that has lost its band already has an event about the end of its turn.
  if (BandOf(*running.workload) == Band::kRuns)
    answer.notice = {running.workload, "SynergyTypeChanged", std::move(message)};
  return answer;
}

void SortByPlace(std::vector<Checked>& workloads) {
  std::sort(workloads.begin(), workloads.end(),
            [](const Checked& a, const Checked& b) { return a.turn->place < b.turn->place; });
}

// Admits held workloads to types that have room, and evicts started workloads from types for which
// others wait.
void GiveTypes(const QueueObjects& objects, const TypeChooser& types, std::vector<Checked> held,
               std::vector<Checked> started, WallTime now, std::vector<TypeAnswer>& answers) {
  SortByPlace(held);
  SortByPlace(started);
  std::map<std::string, int64_t> free;
  for (const auto& [product, count] : types.gpus()) free[product] = count.free;
  for (const auto& [product, gpus] : GpusOnTheirWay(objects, now)) free[product] -= gpus;
  std::map<std::string, int64_t> wanted;
  for (const Checked& waiting : held) {
    const std::string& product = waiting.turn->product;
    if (product.empty()) continue;
    const int64_t gpus = waiting.workload->gpus.count();
    if (free[product] < gpus) {
      wanted[product] += gpus;
      continue;
    }
    free[product] -= gpus;
    answers.push_back(
        Answer(waiting, CheckPhase::kReady, now,
               fmt::format("its turn is on {}; speeds: {}{}", product, waiting.turn->speeds,
                           waiting.turn->missed ? "; it may miss its deadline" : ""),
               product));
  }
  for (const Checked& running : started) {
    const GpuTypeTurn& turn = *running.turn;
    if (turn.on.empty() || turn.stays || turn.product.empty() || turn.product == turn.on) continue;
    wanted[turn.on] -= running.workload->gpus.count();
    answers.push_back(TakeType(running, now));
  }
  // A workload without a turn keeps its GPUs unless another workload needs them.
  for (auto running = started.rbegin(); running != started.rend(); ++running) {
    const GpuTypeTurn& turn = *running->turn;
    if (turn.on.empty() || turn.stays || !turn.product.empty() || wanted[turn.on] <= 0) continue;
    wanted[turn.on] -= running->workload->gpus.count();
    answers.push_back(TakeType(*running, now));
  }
}

}  // namespace

std::optional<size_t> OurCheck(const QueueObjects& objects, const Workload& workload) {
  for (size_t at = 0; at < workload.checks.size(); ++at) {
    const auto check = objects.checks.Find(workload.checks[at].name);
    if (check && check->controller == kTypeCheckController) return at;
  }
  return std::nullopt;
}

bool IsHeld(const QueueObjects& objects, const Workload& workload) {
  const auto check = OurCheck(objects, workload);
  return check && IsHeldBy(workload, workload.checks[*check]);
}

std::vector<TypeAnswer> PlanTypeAnswers(const QueueObjects& objects, const TypeChooser* types,
                                        bool silent, Duration patience, WallTime now) {
  const std::set<std::string> with_types = QueuesWithTypes(objects);
  std::vector<TypeAnswer> answers;
  std::vector<Checked> held;
  std::vector<Checked> started;
  for (const auto& [key, workload] : objects.workloads) {
    if (workload->finished) continue;
    const auto check = OurCheck(objects, *workload);
    if (!check) continue;
    const CheckState& state = workload->checks[*check];
    Checked checked{workload, *check, types ? types->Of(workload->uid) : nullptr};
    if (!workload->has_quota) {
      // Kueue resets the answer when it evicts the workload because of a Retry, but not if it has
      // already evicted the workload for another reason.
      if (state.state != ToString(CheckPhase::kPending) &&
          now - workload->quota_since >= kAfterEviction)
        answers.push_back(Answer(checked, CheckPhase::kPending, now, "it waits for its quota"));
      continue;
    }
    if (workload->evicted) continue;
    const auto local =
        objects.local_queues.Find(workload->workload_namespace + "/" + workload->local_queue);
    const bool typed =
        local && with_types.contains(local->cluster_queue) && workload->gpus > Gpus(0);
    if (state.state == ToString(CheckPhase::kPending)) {
      if (!typed) {
        answers.push_back(
            Answer(checked, CheckPhase::kReady, now, "no policy chooses GPU types in its queue"));
      } else if (checked.turn != nullptr) {
        held.push_back(std::move(checked));
      } else if ((silent || types != nullptr) && now - state.since >= patience) {
        answers.push_back(Answer(checked, CheckPhase::kReady, now,
                                 "no GPU type was chosen in time: it may use any"));
      }
    } else if (state.state == ToString(CheckPhase::kReady) && checked.turn != nullptr) {
      started.push_back(std::move(checked));
    }
  }
  if (types != nullptr)
    GiveTypes(objects, *types, std::move(held), std::move(started), now, answers);
  return answers;
}

}  // namespace synergy
