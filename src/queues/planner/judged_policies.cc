#include "queues/planner/judged_policies.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "queues/kueue.h"
#include "queues/planner/policy_forms.h"

namespace synergy {
namespace {

using QueueNames = std::set<std::string>;

// Returns the first queue of the cohort that is not in this policy, which therefore does not set
// its priorities; empty if there is none.
std::string ForeignQueue(const QueueObjects& objects, const std::string& cohort,
                         const QueueNames& own) {
  for (const auto& [name, queue] : objects.cluster_queues) {
    if (queue->cohort == cohort && !own.contains(name)) return name;
  }
  return {};
}

// Returns why GPU types cannot be chosen for a queue with one flavor; empty if they can.
std::string ProblemWithTypes(const QueueObjects& objects, const ClusterQueue& queue) {
  const auto flavor = objects.flavors.Find(queue.flavors.front());
  if (flavor && !flavor->product.empty()) {
    return fmt::format(
        "flavor {} names the GPU product {} (nodeLabels), so there is no type to choose: remove "
        "that label, or remove gpuTypes from the RoundPolicy",
        flavor->name, flavor->product);
  }
  for (const std::string& name : queue.checks) {
    const auto check = objects.checks.Find(name);
    if (check && check->controller == kTypeCheckController) return {};
  }
  return fmt::format(
      "it has no admission check of {}, which assigns GPU types: add synergy-rounds to "
      "admissionChecksStrategy.admissionChecks",
      kTypeCheckController);
}

std::string ProblemOf(const QueueObjects& objects, const ClusterQueue& queue,
                      const QueueNames& own) {
  if (queue.flavors.empty()) return "it has no quota of GPUs";
  if (queue.flavors.size() > 1)
    return "its GPUs are of several flavors, and priority does not determine a workload's flavor";
  const auto flavor = objects.flavors.Find(queue.flavors.front());
  if (flavor && !flavor->topology.empty()) {
    return fmt::format(
        "flavor {} has a topology (topology-aware scheduling), which may exclude the job whose "
        "turn it is",
        flavor->name);
  }
  for (const std::string& name : queue.checks) {
    const auto check = objects.checks.Find(name);
    if (check && check->controller == kMultiKueue)
      return fmt::format("admission check {} is MultiKueue's: its workloads run elsewhere", name);
  }
  if (queue.by_usage) return "admissionScope orders it by usage; remove it to order by priority";
  if (queue.preemption == "LowerOrNewerEqualPriority") {
    return "preemption.withinClusterQueue is LowerOrNewerEqualPriority, which lets workloads of "
           "one band evict each other; set LowerPriority";
  }
  if (queue.cohort.empty()) return {};
  const std::string foreign = ForeignQueue(objects, queue.cohort, own);
  if (!foreign.empty()) {
    return fmt::format("cohort {} also has cluster queue {}, which is not in this policy",
                       queue.cohort, foreign);
  }
  const auto cohort = objects.cohorts.Find(queue.cohort);
  if (cohort && !cohort->parent.empty()) {
    return fmt::format("cohort {} is part of {}, which has other members", queue.cohort,
                       cohort->parent);
  }
  for (const auto& [name, child] : objects.cohorts) {
    if (child->parent == queue.cohort) {
      return fmt::format("cohort {} has the child {}, whose queues share its quota", queue.cohort,
                         name);
    }
  }
  return {};
}

JudgedQueue Judge(const QueueObjects& objects, const std::string& name, const QueueNames& own,
                  bool chooses_types) {
  JudgedQueue judged;
  judged.queue = objects.cluster_queues.Find(name);
  if (judged.queue == nullptr) {
    judged.problem = "there is no such ClusterQueue";
    return judged;
  }
  judged.problem = ProblemOf(objects, *judged.queue, own);
  if (judged.problem.empty() && chooses_types)
    judged.problem = ProblemWithTypes(objects, *judged.queue);
  if (judged.problem.empty() && !judged.queue->TakesTurns()) {
    judged.hint =
        "running jobs are not preempted; this policy only orders the waiting ones "
        "(preemption.withinClusterQueue is not LowerPriority)";
  }
  return judged;
}

}  // namespace

std::vector<JudgedPolicy> JudgePolicies(const QueueObjects& objects) {
  std::vector<std::shared_ptr<const RoundPolicy>> policies;
  for (const auto& [name, policy] : objects.policies) policies.push_back(policy);
  std::sort(policies.begin(), policies.end(), [](const auto& a, const auto& b) {
    return std::tie(a->created, a->name) < std::tie(b->created, b->name);
  });
  std::map<std::string, std::string> taken;  // queues, with the policy's name
  std::string chooses_types;                 // the policy that chooses types
  std::vector<JudgedPolicy> all;
  for (const auto& policy : policies) {
    JudgedPolicy& judged = all.emplace_back();
    judged.policy = policy;
    Result<Rounds> rounds = Rounds::Make(policy->settings);
    const Result<> form = CheckForm(policy->settings);
    if (!form) {
      judged.problem = "spec." + form.error().message;
    } else if (!rounds) {
      judged.problem = "spec." + rounds.error().message;
    }
    if (rounds && rounds->IsElastic() && !objects.elastic) {
      judged.problem =
          "spec.workers: Elastic changes the workers of Jobs, for which the controller has no "
          "permission; install the chart with kueue.elastic=true, or use another policy";
    }
    if (policy->least_priority > policy->most_priority)
      judged.problem = "spec.priorities: least is above most";
    if (policy->ChoosesTypes()) {
      // A policy that chooses types divides all GPUs with a known product, so only one may do so.
      if (judged.problem.empty() && !chooses_types.empty()) {
        judged.problem = fmt::format(
            "spec.gpuTypes: RoundPolicy {} chooses GPU types already; only one policy may, for all "
            "of its queues together",
            chooses_types);
      }
      if (judged.problem.empty()) chooses_types = policy->name;
    }
    if (judged.problem.empty()) judged.rounds = *std::move(rounds);
    const QueueNames own(policy->cluster_queues.begin(), policy->cluster_queues.end());
    for (const std::string& name : own) {
      JudgedQueue queue = Judge(objects, name, own, policy->ChoosesTypes());
      const auto [other, is_free] = taken.try_emplace(name, policy->name);
      if (!is_free) queue.problem = fmt::format("RoundPolicy {} has it", other->second);
      judged.queues.emplace(name, std::move(queue));
    }
    // Kueue compares priorities across a cohort, so if one of its queues is refused, all are.
    std::map<std::string, std::string> refused;
    for (const auto& [name, queue] : judged.queues) {
      if (queue.queue && !queue.problem.empty() && !queue.queue->cohort.empty())
        refused.emplace(queue.queue->cohort, name);
    }
    for (auto& [name, queue] : judged.queues) {
      if (!queue.queue || !queue.problem.empty()) continue;
      const auto found = refused.find(queue.queue->cohort);
      if (found != refused.end())
        queue.problem = fmt::format("cluster queue {} of its cohort is refused", found->second);
    }
  }
  return all;
}

}  // namespace synergy
