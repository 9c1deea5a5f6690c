#include "cli/views/queue_view.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cli/text/amounts.h"
#include "cli/text/terminal.h"
#include "core/text/quantity_text.h"
#include "queues/kueue.h"
#include "queues/round_workload.h"

namespace synergy::cli {
namespace {

using Doing = Rounds::Doing;

struct PodsOf {
  WorkloadPods counts;
  std::vector<std::string> unplaced;
};

// Returns the pods by the key of their workload.
std::map<std::string, PodsOf> PodsByWorkload(const QueueFacts& facts) {
  std::map<std::string, PodsOf> pods;
  for (const QueuedPod& pod : facts.pods) {
    PodsOf& of = pods[pod.WorkloadKey()];
    of.counts.Add(pod);
    if (pod.has_gpus && !pod.has_node) of.unplaced.push_back(pod.name);
  }
  return pods;
}

// Returns the check with which the workload gets its GPU type; null if it has none.
const CheckState* TypeCheckOf(const Workload& workload) {
  for (const CheckState& check : workload.checks) {
    if (check.name == kTypeCheckName || !check.product.empty()) return &check;
  }
  return nullptr;
}

Doing StageOf(const Workload& workload, const WorkloadPods& pods, WallTime now) {
  const CheckState* const check = TypeCheckOf(workload);
  return check != nullptr && IsHeldBy(workload, *check) ? Doing::kWaited
                                                        : DoingOf(workload, pods, now);
}

// Adds the workload's GPU type, or what it waits for.
void AddType(const Workload& workload, QueuedView& view) {
  const CheckState* const check = TypeCheckOf(workload);
  if (check == nullptr || workload.finished) return;
  if (workload.has_quota && check->state != ToString(CheckPhase::kPending)) {
    view.product = check->product;
    view.product_why = check->message;
    return;
  }
  const Band band = view.band.value_or(Band::kNext);
  view.product_why = band == Band::kRuns ? "it has its turn, but waits for room on its GPU type"
                     : band == Band::kWaits
                         ? "it waits for its turn"
                         : "it waits for its quota, or for its turn on a GPU type";
}

std::string_view StateName(const Workload& workload, const WorkloadPods& pods, WallTime now) {
  switch (StageOf(workload, pods, now)) {
    case Doing::kRan:
      return "runs";
    case Doing::kWaited:
      return "waits";
    case Doing::kUnplaced:
      return "unplaced";
    case Doing::kNeither:
      break;
  }
  if (!workload.has_quota) return workload.active ? "backoff" : "stopped";
  return workload.evicted ? "leaves" : "starts";
}

// Returns the workload's service: the recorded amount plus what it has received since then.
RoundService ServiceAt(const Rounds& rounds, const Workload& workload, const WorkloadPods& pods,
                       WallTime now) {
  RoundService service;
  if (workload.note) service = ServiceOf(*workload.note);
  const WallTime noted = workload.note ? workload.note->at : workload.created;
  ChargeUntil(rounds, service, workload, pods, StageOf(workload, pods, now), noted, now);
  return service;
}

// Returns the policy that orders the queue; if several policies name it, the oldest one.
const RoundPolicy* PolicyOf(const QueueFacts& facts, const std::string& queue) {
  const RoundPolicy* first = nullptr;
  for (const RoundPolicy& policy : facts.policies) {
    const auto& names = policy.cluster_queues;
    if (std::find(names.begin(), names.end(), queue) == names.end()) continue;
    const auto age = [](const auto& one) { return std::tie(one.created, one.name); };
    if (first == nullptr || age(policy) < age(*first)) first = &policy;
  }
  return first;
}

// Returns why the controller does not order the queue; empty if it does.
std::string ProblemOf(const RoundPolicy& policy, const std::string& queue) {
  for (const auto& status : policy.status.queues) {
    if (status.name == queue) return status.ready ? "" : status.message;
  }
  return "synergy-controller has not checked its policy yet";
}

// Returns the workload's place among the waiting ones. The controller writes places into the status
// only for the first of these.
std::optional<size_t> PlaceOf(const RoundPolicy& policy, const std::string& queue,
                              const Workload& workload) {
  for (const auto& status : policy.status.queues) {
    if (status.name != queue) continue;
    const auto found = std::find(status.up_next.begin(), status.up_next.end(), workload.Key());
    if (found != status.up_next.end())
      return static_cast<size_t>(found - status.up_next.begin()) + 1;
  }
  return std::nullopt;
}

QueuedView ViewWorkload(const Workload& workload, std::optional<Band> band) {
  QueuedView view;
  view.workload_namespace = workload.workload_namespace;
  view.workload = workload.name;
  view.kind = workload.owner.kind;
  view.job = workload.owner.name.empty() ? workload.name : workload.owner.name;
  view.gpus = workload.gpus;
  view.band = band;
  AddType(workload, view);
  return view;
}

// A workload that has its quota but waits for its GPU type has no GPUs.
bool HasGpus(const Workload& workload, const QueuedView& view) {
  return workload.has_quota && view.state != "waits";
}

// Returns Kueue's own order, in which workloads with a place go before the others that wait.
std::vector<size_t> InOrderOfPriority(const std::vector<const Workload*>& workloads,
                                      const std::vector<QueuedView>& views) {
  std::vector<size_t> order(workloads.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto rank = [&](size_t index) {
    const Workload& workload = *workloads[index];
    const size_t place = views[index].place.value_or(workloads.size() + 1);
    return std::tuple(!HasGpus(workload, views[index]), place, -workload.priority, workload.created,
                      workload.Key());
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
  return order;
}

std::string WhyText(const RoundVerdict& verdict, Band band) {
  if (verdict.band == band) return std::string(verdict.why);
  return fmt::format("its next band is {}: {}", ToString(verdict.band), verdict.why);
}

}  // namespace

std::string QueueOf(const QueueFacts& facts, const Workload& workload) {
  for (const LocalQueue& queue : facts.local_queues) {
    if (queue.queue_namespace == workload.workload_namespace && queue.name == workload.local_queue)
      return queue.cluster_queue;
  }
  return {};
}

bool HasQueue(const QueueFacts& facts, const std::string& name) {
  const auto has = [&](const auto& objects, auto member) {
    return std::any_of(objects.begin(), objects.end(),
                       [&](const auto& object) { return object.*member == name; });
  };
  return has(facts.cluster_queues, &ClusterQueue::name) ||
         has(facts.local_queues, &LocalQueue::cluster_queue);
}

QueueView ViewQueue(const QueueFacts& facts, const std::string& name, WallTime now) {
  QueueView view;
  view.name = name;
  for (const ClusterQueue& queue : facts.cluster_queues) {
    if (queue.name == name) view.quota = queue.quota;
  }
  const RoundPolicy* const policy = PolicyOf(facts, name);
  std::optional<Rounds> rounds;
  if (policy != nullptr) {
    view.round_policy = policy->name;
    view.settings = policy->settings;
    view.chooses_types = policy->ChoosesTypes();
    view.problem = ProblemOf(*policy, name);
    if (auto made = Rounds::Make(policy->settings); made && view.problem.empty())
      rounds = *std::move(made);
  }

  const std::map<std::string, PodsOf> pods = PodsByWorkload(facts);
  std::vector<const Workload*> workloads;
  std::vector<QueuedView> views;
  std::vector<RoundWorkload> described;
  for (const Workload& workload : facts.workloads) {
    if (workload.finished || workload.gpus <= Gpus(0) || QueueOf(facts, workload) != name) continue;
    const auto found = pods.find(workload.PodsKey());
    const PodsOf own = found == pods.end() ? PodsOf() : found->second;
    workloads.push_back(&workload);
    QueuedView& one = views.emplace_back(
        ViewWorkload(workload, rounds ? std::optional(BandOf(workload)) : std::nullopt));
    one.state = StateName(workload, own.counts, now);
    one.unplaced = own.unplaced;
    ++(HasGpus(workload, one) ? view.running : view.waiting);
    if (!rounds) continue;
    if (view.chooses_types && facts.all_namespaces && one.state == "waits")
      one.place = PlaceOf(*policy, name, workload);
    one.service = ServiceAt(*rounds, workload, own.counts, now);
    described.push_back(ToRoundWorkload(*policy, workload, *one.service, now));
  }

  // A decision is useful only if all workloads and the quota are known. If the policy chooses GPU
  // types, the order comes from the controller.
  const bool decides = rounds && facts.all_namespaces && view.quota && !view.chooses_types;
  std::vector<size_t> order = InOrderOfPriority(workloads, views);
  if (decides) {
    RoundDecision decision = rounds->Decide(*view.quota, described, false, now);
    for (size_t index = 0; index < views.size(); ++index)
      views[index].why = WhyText(decision.verdicts[index], *views[index].band);
    // The decision's order does not contain the workloads that are left alone.
    std::erase_if(order, [&](size_t index) { return !described[index].left_alone; });
    std::swap(order, decision.order);
    order.insert(order.end(), decision.order.begin(), decision.order.end());
  }
  size_t place = 0;
  for (const size_t index : order) {
    QueuedView& one = views[index];
    if (decides && !described[index].left_alone && !workloads[index]->has_quota)
      one.place = ++place;
    view.workloads.push_back(std::move(one));
  }
  return view;
}

std::vector<QueueView> ViewOrderedQueues(const QueueFacts& facts, WallTime now) {
  std::set<std::string> names;
  for (const RoundPolicy& policy : facts.policies)
    names.insert(policy.cluster_queues.begin(), policy.cluster_queues.end());
  std::vector<QueueView> views;
  for (const std::string& name : names) views.push_back(ViewQueue(facts, name, now));
  return views;
}

QueuedView ViewEnded(const Workload& workload) {
  QueuedView view = ViewWorkload(workload, std::nullopt);
  view.state = "ended";
  if (workload.note) view.service = ServiceOf(*workload.note);
  return view;
}

Tree ToTree(const QueuedView& view) {
  Tree::List unplaced;
  for (const std::string& pod : view.unplaced) unplaced.emplace_back(pod);
  Tree service;
  if (view.service) {
    const RoundService& had = *view.service;
    const auto remaining =
        had.remaining ? std::optional(had.remaining->count()) : std::optional<double>();
    service =
        Tree::Members{{"attainedGpuSeconds", Elapsing{had.served}},
                      {"lostTurns", static_cast<int64_t>(had.lost_turns)},
                      {"fairShareDelaySeconds", Elapsing{had.delays.fair_share.count()}},
                      {"fragmentationDelaySeconds", Elapsing{had.delays.fragmentation.count()}},
                      {"remainingSeconds", remaining}};
  }
  return Tree::Members{{"namespace", view.workload_namespace},
                       {"kind", view.kind},
                       {"job", view.job},
                       {"workload", view.workload},
                       {"state", view.state},
                       {"gpus", view.gpus.count()},
                       {"band", view.band ? Tree(ToString(*view.band)) : Tree()},
                       {"why", view.why},
                       {"gpuProduct", view.product},
                       {"gpuProductWhy", view.product_why},
                       {"place", view.place ? Tree(static_cast<int64_t>(*view.place)) : Tree()},
                       {"service", std::move(service)},
                       {"podsWithoutNode", std::move(unplaced)}};
}

Tree ToTree(const QueueView& view) {
  Tree::List workloads;
  for (const QueuedView& one : view.workloads) workloads.push_back(ToTree(one));
  return Tree::Members{{"name", view.name},
                       {"roundPolicy", view.round_policy},
                       {"policy", view.round_policy.empty() ? "" : view.settings.policy},
                       {"gpuTypes", std::string(ToString(view.settings.gpu_types))},
                       {"workers", view.settings.elastic ? "Elastic" : "Fixed"},
                       {"problem", view.problem},
                       {"gpus", view.quota ? Tree(view.quota->count()) : Tree()},
                       {"running", static_cast<int64_t>(view.running)},
                       {"waiting", static_cast<int64_t>(view.waiting)},
                       {"workloads", std::move(workloads)}};
}

std::string HeadLine(const QueueView& view) {
  std::string line = fmt::format("Queue {}: ", view.name);
  line += view.round_policy.empty() ? "no RoundPolicy orders it"
                                    : fmt::format("{} by RoundPolicy {}",
                                                  DescribePolicy(view.settings), view.round_policy);
  if (view.quota) line += ", " + DescribeGpus(*view.quota);
  return line;
}

std::string ToText(const QueueView& view, bool headings) {
  std::string text;
  if (headings) {
    text =
        fmt::format("{}; {} with quota, {} waiting\n", HeadLine(view), view.running, view.waiting);
    if (!view.problem.empty()) text += fmt::format("  not ordered: {}\n", view.problem);
  }
  if (view.workloads.empty()) return text;
  std::vector<std::vector<std::string>> rows{{"PLACE", "JOB", "GPU", "STATE", "BAND", "GPU TIME",
                                              "FAIR-SHARE DELAY", "FRAGMENTATION DELAY",
                                              "LOST TURNS", "WHY"}};
  constexpr size_t kAfterGpu = 3;
  if (view.chooses_types) rows[0].insert(rows[0].begin() + kAfterGpu, "GPU TYPE");
  for (const QueuedView& one : view.workloads) {
    const auto of_service = [&](auto text_of) {
      return one.service ? text_of(*one.service) : std::string("-");
    };
    rows.push_back(
        {one.place ? fmt::format("{}", *one.place) : "-", one.Name(),
         fmt::format("{}", one.gpus.count()), std::string(one.state),
         one.band ? std::string(ToString(*one.band)) : "-",
         of_service([](const RoundService& had) { return ToShortText(Seconds(had.served)); }),
         of_service([](const RoundService& had) { return ToShortText(had.delays.fair_share); }),
         of_service([](const RoundService& had) { return ToShortText(had.delays.fragmentation); }),
         of_service([](const RoundService& had) { return fmt::format("{}", had.lost_turns); }),
         one.Why()});
    if (view.chooses_types) {
      rows.back().insert(rows.back().begin() + kAfterGpu, one.product.empty() ? "-" : one.product);
    }
  }
  if (!headings) rows.erase(rows.begin());
  return text + FormatTable(rows, headings ? 2 : 0);
}

Shown ShowQueues(const std::vector<QueueView>& views, bool headings) {
  Shown shown{.nothing = "no RoundPolicy names a queue"};
  for (const QueueView& view : views) {
    ShownObject& object = shown.objects.emplace_back();
    for (const QueuedView& one : view.workloads)
      object.names.push_back("workload.kueue.x-k8s.io/" + one.workload);
    object.text = ToText(view, headings);
    object.tree = ToTree(view);
  }
  return shown;
}

}  // namespace synergy::cli
