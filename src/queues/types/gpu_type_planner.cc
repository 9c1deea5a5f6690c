#include "queues/types/gpu_type_planner.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace synergy {
namespace {

// The remaining time assumed for a job that does not report one.
constexpr double kUnknownSeconds = 3600;

double Best(const std::vector<double>& speeds) {
  return speeds.empty() ? 0 : *std::max_element(speeds.begin(), speeds.end());
}

std::string SpeedsText(const std::vector<std::string>& types,
                       const std::vector<TypeSpeed>& speeds) {
  std::vector<std::string> parts;
  for (size_t type = 0; type < types.size(); ++type) {
    if (speeds[type].throughput <= 0) continue;
    parts.push_back(fmt::format("{} {:.3g}{}", types[type], speeds[type].throughput,
                                speeds[type].estimate ? " (estimate)" : ""));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<size_t> IndexOf(const std::vector<std::string>& types, const std::string& type) {
  const auto found = std::find(types.begin(), types.end(), type);
  if (found == types.end()) return std::nullopt;
  return static_cast<size_t>(found - types.begin());
}

}  // namespace

void GpuTypePlanner::StartOver() {
  policies_.clear();
  kept_.clear();
}

const GpuTypeTurn* GpuTypePlanner::Of(const std::string& uid) const {
  const auto found = kept_.find(uid);
  return found == kept_.end() || !found->second.decided ? nullptr : &found->second.turn;
}

void GpuTypePlanner::Keep(const std::set<std::string>& policies) {
  std::erase_if(policies_, [&](const auto& entry) { return !policies.contains(entry.first); });
  std::erase_if(kept_, [](const auto& entry) { return !entry.second.decided; });
  for (auto& [uid, kept] : kept_) kept.decided = false;
}

std::vector<std::string> GpuTypePlanner::Order(const std::set<std::string>& products) const {
  const std::vector<std::string> types(products.begin(), products.end());
  const std::vector<double> speeds = speeds_.MeanSpeeds(types);
  std::vector<size_t> order(types.size());
  for (size_t type = 0; type < order.size(); ++type) order[type] = type;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return speeds[a] > speeds[b]; });
  std::vector<std::string> ordered;
  for (const size_t type : order) ordered.push_back(types[type]);
  return ordered;
}

TypedJob GpuTypePlanner::ToJob(const TypedWorkload& workload, const Rounds& rounds,
                               const std::vector<std::string>& types, Moment at, Kept& kept) const {
  const Workload& object = *workload.object;
  const RoundWorkload& described = workload.described;
  TypedJob job;
  job.name = object.uid;
  job.gpus = static_cast<double>(object.gpus.count());
  const std::vector<TypeSpeed> speeds = speeds_.SpeedsOf(object, types);
  for (const TypeSpeed& speed : speeds) job.throughput.push_back(speed.throughput);
  if (described.state == RoundState::kRuns) job.on = IndexOf(types, workload.on);
  // The job runs on this type, so it has a speed there even if its profiles exclude the type.
  if (job.on && job.throughput[*job.on] <= 0)
    job.throughput[*job.on] = std::max(Best(job.throughput), 1.0);
  job.stays = job.on && !rounds.Keeps(described, true, at.wall).empty();
  if (described.service.remaining) {
    const double seconds = described.service.remaining->count();
    if (job.on) kept.steps_left = seconds * job.throughput[*job.on];
    if (!kept.steps_left) kept.steps_left = seconds * Best(job.throughput);
  }
  job.steps_left = std::max(kept.steps_left.value_or(kUnknownSeconds * Best(job.throughput)), 1e-6);
  if (object.deadline) job.deadline = std::max(Seconds(*object.deadline - at.wall).count(), 1.0);
  job.waited = std::max(Seconds(at.wall - object.created).count(), 0.0);
  kept.turn = {};
  kept.turn.on = workload.on;
  kept.turn.stays = job.stays;
  kept.turn.speeds = SpeedsText(types, speeds);
  kept.decided = true;
  return job;
}

Result<> GpuTypePlanner::Decide(const RoundPolicy& policy, const Rounds& rounds,
                                std::span<const TypedWorkload> workloads,
                                const std::set<std::string>& ours, bool begins, Moment at) {
  Result<> divided = Divide(policy, rounds, workloads, ours, begins, at);
  if (divided) return divided;
  for (const TypedWorkload& workload : workloads) {
    const auto kept = kept_.find(workload.object->uid);
    if (kept != kept_.end()) kept->second.decided = false;
  }
  return divided;
}

Result<> GpuTypePlanner::Divide(const RoundPolicy& policy, const Rounds& rounds,
                                std::span<const TypedWorkload> workloads,
                                const std::set<std::string>& ours, bool begins, Moment at) {
  gpus_ = speeds_.Count(ours);
  Divided& divided = policies_[policy.uid];
  std::set<std::string> products(divided.types.begin(), divided.types.end());
  for (const auto& [product, count] : gpus_) products.insert(product);
  // While there are no workloads, the order can follow new speeds at no cost.
  if (products.size() != divided.types.size() || workloads.empty()) {
    divided.types = Order(products);
    divided.classes.clear();
  }
  const std::vector<std::string>& types = divided.types;
  if (types.empty()) {
    return Fail(ErrorCode::kInvalid,
                "no node with GPUs has the label nvidia.com/gpu.product: install NVIDIA's GPU "
                "feature discovery or synergy-device-plugin, or choose another policy");
  }
  std::vector<double> prices;
  for (const std::string& type : types) {
    const auto price = policy.prices.find(type);
    if (price == policy.prices.end()) break;
    prices.push_back(price->second);
  }
  const std::string name =
      TypePolicyOf(policy.settings.policy, policy.settings.gpu_types == GpuTypes::kAware);
  const auto parsed = ParseTypePolicy(name);
  if (!parsed) return Fail(ErrorCode::kInvalid, "policy: " + parsed.error().message);
  if (parsed->by_cost && prices.size() < types.size()) {
    return Fail(ErrorCode::kInvalid, fmt::format("prices: {} has none, and policy {} uses costs",
                                                 types[prices.size()], policy.settings.policy));
  }
  if (prices.size() < types.size()) prices.clear();
  if (std::exchange(divided.policy, name) != name) divided.classes.clear();

  std::vector<double> free(types.size(), 0);
  for (size_t type = 0; type < types.size(); ++type) {
    const auto count = gpus_.find(types[type]);
    if (count == gpus_.end()) continue;
    int64_t usable = count->second.usable;
    // The GPUs of unknown pods of these workloads were counted as used by other pods.
    for (const TypedWorkload& workload : workloads)
      if (workload.on == types[type]) usable += workload.unseen.count();
    free[type] = static_cast<double>(std::min(usable, count->second.total));
  }
  std::map<int64_t, std::vector<TypedJob>, std::greater<>> classes;
  std::vector<const TypedWorkload*> in_order;
  for (const TypedWorkload& workload : workloads) in_order.push_back(&workload);
  std::stable_sort(in_order.begin(), in_order.end(), [](const auto* a, const auto* b) {
    return std::tie(a->object->created, a->described.name) <
           std::tie(b->object->created, b->described.name);
  });
  for (const TypedWorkload* const workload : in_order) {
    if (begins && workload->running && workload->rate)
      speeds_.Learn(*workload->object, workload->on, *workload->rate);
  }
  for (const TypedWorkload* const workload : in_order) {
    Kept& kept = kept_[workload->object->uid];
    TypedJob job = ToJob(*workload, rounds, types, at, kept);
    const std::optional<Instant> looked = std::exchange(kept.looked, at.now);
    if (job.on && workload->running && looked) {
      const auto of_class = divided.classes.find(workload->described.own_priority);
      if (of_class != divided.classes.end())
        of_class->second.Charge(job.name, *job.on, Seconds(at.now - *looked).count());
    }
    if (workload->described.left_alone) {
      if (job.on) free[*job.on] -= job.gpus;
      kept.decided = false;
      continue;
    }
    if (job.stays) free[*job.on] -= job.gpus;
    classes[workload->described.own_priority].push_back(std::move(job));
  }
  std::erase_if(divided.classes, [&](const auto& each) { return !classes.contains(each.first); });

  const double round = Seconds(policy.settings.round).count();
  double place = 0;
  for (auto& [priority, jobs] : classes) {
    auto of_class = divided.classes.find(priority);
    if (of_class == divided.classes.end()) {
      auto made = TypeRounds::Create(name, types, {.round = round, .make = make_});
      if (!made) return Fail(made.error());
      of_class = divided.classes.emplace(priority, *std::move(made)).first;
    }
    of_class->second.SetRestartCost(Seconds(policy.settings.restart_cost).count());
    std::vector<double> here = free;
    for (const TypedJob& job : jobs) {
      if (job.stays) here[*job.on] += job.gpus;
    }
    for (double& each : here) each = std::max(each, 0.0);
    const auto picks = of_class->second.Decide(jobs, here, prices, begins,
                                               Seconds(at.now.time_since_epoch()).count());
    if (!picks) return Fail(picks.error());
    std::map<std::string_view, const TypedJob*> by_name;
    for (const TypedJob& job : jobs) by_name.emplace(job.name, &job);
    for (const GavelPick& pick : *picks) {
      GpuTypeTurn& turn = kept_.at(pick.job).turn;
      turn.product = types[pick.type];
      turn.place = place++;
      const TypedJob& job = *by_name.at(pick.job);
      if (!job.stays) free[pick.type] -= job.gpus;
    }
    for (const TypedJob& job : jobs) {
      GpuTypeTurn& turn = kept_.at(job.name).turn;
      if (turn.product.empty()) turn.place = place++;
      turn.missed = of_class->second.missed().contains(job.name);
    }
  }
  return {};
}

}  // namespace synergy
