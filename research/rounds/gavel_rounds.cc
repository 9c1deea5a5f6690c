#include "research/rounds/gavel_rounds.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace synergy {
namespace {

std::vector<double> GpusPerType(const TypedServers& servers) {
  std::vector<double> gpus;
  for (size_t type = 0; type < servers.types.size(); ++type) {
    gpus.push_back(static_cast<double>(servers.GpusOf(type).count()));
  }
  return gpus;
}

std::string NameOf(size_t place) { return fmt::format("{}", place); }

}  // namespace

std::vector<Server> TypedServers::All() const {
  return {std::accumulate(counts.begin(), counts.end(), size_t{0}), Server{server}};
}

Gpus TypedServers::GpusOf(size_t type) const {
  return server.gpus * static_cast<int64_t>(counts[type]);
}

GavelRounds::GavelRounds(TypedServers servers, TypeRounds rounds, const Options& options)
    : servers_(std::move(servers)),
      all_(servers_.All()),
      policy_name_(options.policy),
      within_rounds_(options.within_rounds),
      rounds_(std::move(rounds)) {
  size_t first = 0;
  for (const size_t count : servers_.counts) first_.push_back(std::exchange(first, first + count));
}

Result<GavelRounds> GavelRounds::Create(TypedServers servers, std::span<const Job> jobs,
                                        std::span<const ProfilesOnTypes> profiles,
                                        const Options& options) {
  auto by_types = TypeRounds::Create(options.policy, servers.types,
                                     {.round = options.round.count(),
                                      .restart_cost = options.restart_cost.count(),
                                      .make = MakeGavelPolicy});
  if (!by_types) return Fail(by_types.error());
  GavelRounds rounds(std::move(servers), *std::move(by_types), options);
  for (size_t type = 0; type < rounds.servers_.types.size(); ++type) {
    auto mechanism = MakeMechanism(options.mechanism);
    if (!mechanism) return Fail(mechanism.error());
    rounds.mechanisms_.push_back(*std::move(mechanism));
  }
  for (size_t place = 0; place < jobs.size(); ++place) {
    auto on_types = rounds.ReadJob(jobs[place], profiles[place]);
    if (!on_types) return Fail(on_types.error());
    rounds.on_types_.push_back(*std::move(on_types));
  }
  rounds.positions_.resize(jobs.size());
  return rounds;
}

size_t GavelRounds::TypeOf(ServerIndex server) const {
  const auto after = std::upper_bound(first_.begin(), first_.end(), server);
  return static_cast<size_t>(after - first_.begin()) - 1;
}

Result<std::vector<GavelRounds::OnType>> GavelRounds::ReadJob(
    const Job& job, const ProfilesOnTypes& profiles) const {
  std::vector<OnType> on_types(servers_.types.size());
  const ResourceVector fair = FairShareOf(Server{servers_.server}, job.gpus);
  bool runs = false;
  for (size_t type = 0; type < on_types.size(); ++type) {
    if (profiles[type] == nullptr || job.gpus > servers_.GpusOf(type)) continue;
    const double at_fair_share = profiles[type]->ThroughputAt(fair.cpu, fair.memory);
    if (at_fair_share <= 0) continue;
    on_types[type] = {.profile = profiles[type],
                      .demand = profiles[type]->Demand(0),
                      .fair_throughput = at_fair_share,
                      .rate = at_fair_share / job.fair_throughput};
    runs = true;
  }
  if (runs) return on_types;
  return Fail(ErrorCode::kInvalid,
              fmt::format("job {} with {} GPUs runs on none of {} with enough GPUs: remove the "
                          "job, or set more GPUs for the types",
                          job.id, job.gpus.count(), fmt::join(servers_.types, ", ")));
}

Result<PlannedRound> GavelRounds::Decide(std::span<const Job> jobs, std::span<const size_t> places,
                                         Seconds now, bool begins) {
  std::vector<TypedJob> typed;
  for (JobIndex job = 0; job < jobs.size(); ++job) {
    const size_t place = places[job];
    positions_[place] = job;
    TypedJob& asked = typed.emplace_back();
    asked.name = NameOf(place);
    asked.gpus = static_cast<double>(jobs[job].gpus.count());
    for (const OnType& on_type : on_types_[place]) asked.throughput.push_back(on_type.rate);
    asked.steps_left = jobs[job].remaining.count();
    asked.waited = (now - jobs[job].arrival).count();
    if (jobs[job].Runs()) asked.on = TypeOf(jobs[job].holds.front().server);
  }
  const auto picks =
      rounds_.Decide(typed, GpusPerType(servers_), servers_.costs, begins, now.count());
  if (!picks) {
    return Fail(picks.error().code,
                fmt::format("{} at {} s: {}", policy_name_, now.count(), picks.error().message));
  }
  std::vector<std::vector<JobIndex>> picked(servers_.types.size());
  for (const GavelPick& pick : *picks) {
    picked[pick.type].push_back(positions_[std::stoull(pick.job)]);
  }
  PlannedRound decision;
  decision.plan.shares.resize(jobs.size());
  decision.plan.reasons.assign(jobs.size(), Unplaced::kNoGpus);
  decision.speeds.assign(jobs.size(), 0);
  for (size_t type = 0; type < picked.size(); ++type) {
    std::sort(picked[type].begin(), picked[type].end());  // by arrival
    Place(type, picked[type], jobs, places, decision);
  }
  return decision;
}

void GavelRounds::Place(size_t type, const std::vector<JobIndex>& picked, std::span<const Job> jobs,
                        std::span<const size_t> places, PlannedRound& decision) {
  const auto first = static_cast<ServerIndex>(first_[type]);
  const std::span<const Server> servers(all_.data() + first, servers_.counts[type]);
  std::vector<Job> here;
  for (const JobIndex index : picked) {
    const OnType& on_type = on_types_[places[index]][type];
    Job& job = here.emplace_back(jobs[index]);
    job.profile = on_type.profile;
    job.demand = on_type.demand;
    job.fair_throughput = on_type.fair_throughput;
    const bool stays = job.Runs() && job.holds.front().server >= first &&
                       job.holds.front().server < first + servers.size();
    if (!stays) job.holds.clear();
    for (Share& share : job.holds) share.server -= first;
  }
  std::vector<JobIndex> order(here.size());
  std::iota(order.begin(), order.end(), JobIndex{0});
  Plan plan = mechanisms_[type].allocator->Allocate(servers, here, order);
  const std::vector<double> speeds = Speeds(servers, here, plan, mechanisms_[type].enforcement);
  for (JobIndex at = 0; at < here.size(); ++at) {
    const JobIndex job = picked[at];
    decision.speeds[job] = speeds[at] * on_types_[places[job]][type].rate;
    decision.plan.reasons[job] = plan.reasons[at];
    decision.plan.shares[job] = std::move(plan.shares[at]);
    for (Share& share : decision.plan.shares[job]) share.server += first;
  }
  if (plan.gap) decision.plan.gap = std::max(decision.plan.gap.value_or(0), *plan.gap);
  decision.plan.fell_back = decision.plan.fell_back || plan.fell_back;
}

bool GavelRounds::DecidesAgain(size_t waiting) const {
  const TypePolicy& policy = rounds_.policy();
  return policy.whole_types ? !policy.fifo && waiting > 0 : true;
}

void GavelRounds::Charge(Job& job, size_t place, Seconds stretch, Seconds /*now*/) {
  if (!job.Runs()) return;
  rounds_.Charge(NameOf(place), TypeOf(job.holds.front().server), stretch.count());
}

void GavelRounds::Gone(size_t place) { rounds_.Remove(NameOf(place)); }

}  // namespace synergy
