#include "controller/queues/type_checks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "controller/queues/job_events.h"
#include "queues/round_workload.h"

namespace synergy::controller {
namespace {

constexpr std::string_view kPending = "Pending";
constexpr std::string_view kReady = "Ready";

// ClusterQueues whose policy chooses types, whether or not it can at present.
std::set<std::string> QueuesWithTypes(const RoundObjects& objects) {
  std::set<std::string> queues;
  for (const JudgedPolicy& policy : JudgePolicies(objects)) {
    if (!policy.policy->ChoosesTypes() || !policy.rounds) continue;
    for (const auto& [name, queue] : policy.queues) {
      if (queue.problem.empty()) queues.insert(name);
    }
  }
  return queues;
}

}  // namespace

std::optional<size_t> OurCheck(const RoundObjects& objects, const Workload& workload) {
  for (size_t at = 0; at < workload.checks.size(); ++at) {
    const auto check = objects.checks.Find(workload.checks[at].name);
    if (check && check->controller == kTypeCheckController) return at;
  }
  return std::nullopt;
}

bool IsHeld(const RoundObjects& objects, const Workload& workload) {
  const auto check = OurCheck(objects, workload);
  return check && IsHeldBy(workload, workload.checks[*check]);
}

void TypeChecks::Activate(const std::stop_token& stop) {
  for (const auto& check : objects_.checks.All()) {
    if (check->controller != kTypeCheckController || check->active) continue;
    const Result<> written = api_.ActivateCheck(*check, clock_.WallNow(), stop);
    metrics_.CountWrite("check", written ? "written" : "failed");
    if (written) {
      log_.Info("admission check is answered", {{"check", check->name}});
    } else {
      log_.Warn("an admission check's status cannot be written",
                {{"check", check->name}, {"error", written.error().message}});
    }
  }
}

std::map<std::string, int64_t> TypeChecks::OnTheirWay() const {
  std::unordered_map<std::string, int64_t> placed;  // pods, by the workload's key
  for (const auto& pod : objects_.pods.All()) {
    if (pod->has_gpus && pod->has_node) ++placed[pod->pod_namespace + "/" + pod->workload];
  }
  std::map<std::string, int64_t> gpus;
  for (const auto& workload : objects_.workloads.All()) {
    if (workload->finished || !workload->has_quota || workload->evicted) continue;
    const auto check = OurCheck(objects_, *workload);
    if (!check || workload->checks[*check].state != kReady) continue;
    const auto found = placed.find(workload->Key());
    const int64_t there = found == placed.end() ? 0 : found->second;
    const int64_t missing = workload->gpus.count() - there * workload->pod_gpus.count();
    if (missing > 0) gpus[workload->checks[*check].product] += missing;
  }
  return gpus;
}

bool TypeChecks::Answer(const Waiting& waiting, CheckWord word, const std::string& product,
                        std::string message, const std::stop_token& stop) {
  const Workload& workload = *waiting.workload;
  const Instant now = clock_.Now();
  // Not twice over the same: until the watch shows what was written.
  if (stop.stop_requested() || rate_.Next() > now) return false;
  const auto written = written_.find(workload.uid);
  if (written != written_.end() && written->second == workload.resource_version) return false;
  rate_.Spend(1, now);
  const CheckAnswer answer{word, product, std::move(message), clock_.WallNow()};
  const Result<> done = api_.AnswerCheck(workload, waiting.check, answer, stop);
  const bool outdated = IsOutdated(done);
  metrics_.CountWrite("check", done ? "written" : outdated ? "outdated" : "failed");
  if (done) {
    written_[workload.uid] = workload.resource_version;
    log_.Info("admission check", {{"workload", workload.Key()},
                                  {"answer", ToString(word)},
                                  {"product", product},
                                  {"because", answer.message}});
  } else if (!outdated) {
    log_.Warn("a workload's admission check cannot be written",
              {{"workload", workload.Key()}, {"error", done.error().message}});
  }
  return static_cast<bool>(done);
}

void TypeChecks::TakeType(const Waiting& running, const std::stop_token& stop) {
  const Workload& workload = *running.workload;
  const TypeTurn& turn = *running.turn;
  std::string why = fmt::format("its turn on {} goes to others", turn.on);
  std::string told = fmt::format(
      "from {} to none: others have their turn there; it goes on from its checkpoint later",
      turn.on);
  if (!turn.product.empty()) {
    why = fmt::format("its turn on {} is over and goes on on {}; speeds: {}", turn.on, turn.product,
                      turn.speeds);
    told = fmt::format("from {} to {}; speeds: {}; it goes on from its checkpoint", turn.on,
                       turn.product, turn.speeds);
  }
  if (!Answer(running, CheckWord::kRetry, {}, std::move(why), stop)) return;
  // Who has lost its band has been told already to whom its turn goes.
  if (BandOf(workload) == Band::kRuns)
    events_.Record(AboutJob(workload, "SynergyTypeChanged", std::move(told)));
}

void TypeChecks::GiveTypes(const TypeTurns& turns, std::vector<Waiting> held,
                           std::vector<Waiting> started, const std::stop_token& stop) {
  const auto by_place = [](const Waiting& a, const Waiting& b) {
    return a.turn->place < b.turn->place;
  };
  std::sort(held.begin(), held.end(), by_place);
  std::sort(started.begin(), started.end(), by_place);
  std::map<std::string, int64_t> free;
  for (const auto& [product, count] : turns.gpus()) free[product] = count.free;
  for (const auto& [product, gpus] : OnTheirWay()) free[product] -= gpus;
  std::map<std::string, int64_t> wanted;
  for (const Waiting& waiting : held) {
    const std::string& product = waiting.turn->product;
    if (product.empty()) continue;
    const int64_t gpus = waiting.workload->gpus.count();
    if (free[product] < gpus) {
      wanted[product] += gpus;
      continue;
    }
    free[product] -= gpus;
    Answer(waiting, CheckWord::kReady, product,
           fmt::format("its turn is on {}; speeds: {}{}", product, waiting.turn->speeds,
                       waiting.turn->missed ? "; its deadline is in danger" : ""),
           stop);
  }
  for (const Waiting& running : started) {
    const TypeTurn& turn = *running.turn;
    if (turn.on.empty() || turn.stays || turn.product.empty() || turn.product == turn.on) continue;
    wanted[turn.on] -= running.workload->gpus.count();
    TakeType(running, stop);
  }
  // Who has no turn at all keeps what nobody else has a use for.
  for (auto running = started.rbegin(); running != started.rend(); ++running) {
    const TypeTurn& turn = *running->turn;
    if (turn.on.empty() || turn.stays || !turn.product.empty() || wanted[turn.on] <= 0) continue;
    wanted[turn.on] -= running->workload->gpus.count();
    TakeType(*running, stop);
  }
}

void TypeChecks::Step(const TypeTurns* turns, Instant decided, const std::stop_token& stop) {
  const Instant now = clock_.Now();
  const WallTime wall = clock_.WallNow();
  // Whoever has just begun to listen has not heard silence yet.
  if (!began_) began_ = now;
  Activate(stop);
  const std::set<std::string> with_types = QueuesWithTypes(objects_);
  const bool silent = now - std::max(decided, *began_) >= patience_;
  std::vector<Waiting> held;
  std::vector<Waiting> started;
  std::set<std::string> present;
  for (const auto& workload : objects_.workloads.All()) {
    if (workload->finished) continue;
    const auto check = OurCheck(objects_, *workload);
    if (!check) continue;
    present.insert(workload->uid);
    const CheckState& state = workload->checks[*check];
    Waiting waiting{workload, *check, turns ? turns->Of(workload->uid) : nullptr};
    if (!workload->has_quota) {
      // Kueue does so itself when it evicts; not where another eviction came before ours.
      if (state.state != kPending && wall - workload->quota_since >= kAfterEviction)
        Answer(waiting, CheckWord::kPending, {}, "it waits for its quota", stop);
      continue;
    }
    if (workload->evicted) continue;
    const auto local =
        objects_.local_queues.Find(workload->workload_namespace + "/" + workload->local_queue);
    const bool typed =
        local && with_types.contains(local->cluster_queue) && workload->gpus > Gpus(0);
    if (state.state == kPending) {
      if (!typed) {
        Answer(waiting, CheckWord::kReady, {}, "no policy chooses GPU types in its queue", stop);
      } else if (waiting.turn != nullptr) {
        held.push_back(std::move(waiting));
      } else if ((silent || turns != nullptr) && wall - state.since >= patience_) {
        Answer(waiting, CheckWord::kReady, {},
               "nobody has said which GPU type it is to have: it takes any", stop);
      }
    } else if (state.state == kReady && waiting.turn != nullptr) {
      started.push_back(std::move(waiting));
    }
  }
  std::erase_if(written_, [&](const auto& entry) { return !present.contains(entry.first); });
  if (turns != nullptr) GiveTypes(*turns, std::move(held), std::move(started), stop);
}

}  // namespace synergy::controller
