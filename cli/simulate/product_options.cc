#include "cli/simulate/product_options.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/simulate/failures/failure_options.h"
#include "cli/simulate/option_groups.h"
#include "cli/simulate/settings.h"
#include "cli/simulate/simulation.h"
#include "cli/text/amounts.h"
#include "cluster/gang.h"
#include "config/text_file.h"
#include "core/rounding.h"
#include "policy/policy.h"
#include "sim/sharing/pair_speeds.h"
#include "sim/sharing/shared_gpus.h"

namespace synergy::cli {
namespace {

constexpr std::string_view kRoundsUsage =
    "length=5m,least-run=5m,limits=3250:7200,promote=8,strict,backfill,max-exec=2";

Result<> ReadFaults(std::string_view text, FaultRates& rates) {
  // Above this, retries alone would keep the cluster busy.
  constexpr double kMost = 0.9;
  return ReadSettings(text, ':',
                      "resize-deferred:0.1,resize-refused:0.1,call-fails:0.1,call-late:500ms,"
                      "node-lost:0.01",
                      {{"resize-deferred", ReadNumber(rates.resize_deferred, 0, kMost)},
                       {"resize-refused", ReadNumber(rates.resize_refused, 0, kMost)},
                       {"call-fails", ReadNumber(rates.call_fails, 0, kMost)},
                       {"call-late", ReadDuration(rates.call_late)},
                       {"node-lost", ReadNumber(rates.node_lost, 0, 24)}});
}

// Returns a function that reads a size into `size`.
std::function<Result<>(std::string_view)> ReadSize(Bytes& size) {
  return [&size](std::string_view text) -> Result<> {
    const auto bytes = ParseSize(text);
    if (!bytes) return Fail(bytes.error());
    size = *bytes;
    return {};
  };
}

Result<> ReadCpuPods(std::string_view text, CpuPodLoad& load) {
  constexpr std::string_view kUsage = "per-hour:60,cpu:4,memory:16GB,lasts:30m";
  double cores = 0;
  auto read = ReadSettings(text, ':', kUsage,
                           {{"per-hour", ReadNumber(load.per_hour, 1e-3, 1e6)},
                            {"cpu", ReadNumber(cores, 0.001, 1e6)},
                            {"memory", ReadSize(load.requests.memory)},
                            {"lasts", ReadDuration(load.lasts)}});
  if (!read) return read;
  load.requests.cpu = MilliCpu(std::llround(cores * 1000));
  if (load.per_hour > 0 && cores > 0 && load.requests.memory > Bytes(0) &&
      load.lasts > Duration::zero())
    return {};
  return Fail(ErrorCode::kInvalid, fmt::format("write all of {}, each more than 0", kUsage));
}

Result<> ReadElastic(std::string_view text, std::optional<ElasticWorkers>& elastic) {
  ElasticWorkers& workers = elastic.emplace();
  workers.least = 1;
  workers.most = 0;
  auto read = ReadSettings(text, ':', "least:1,most:16,serial:0.05",
                           {{"least", ReadCount(workers.least, 1, kMostGangMembers)},
                            {"most", ReadCount(workers.most, 1, kMostGangMembers)},
                            {"serial", ReadNumber(workers.serial, 0, 1)}});
  if (read && workers.most < workers.least)
    return Fail(ErrorCode::kInvalid, "give most, and no less than least");
  return read;
}

Result<> ReadReservations(std::string_view text, std::optional<SimulatedReservations>& wanted) {
  constexpr int64_t kMost = 1'000'000;
  SimulatedReservations& reservations = wanted.emplace();
  int64_t most = 1;
  int64_t least_gpus = 0;
  auto read =
      ReadSettings(text, ':', "after:10m,max:1,leastGpus:8,error:0.3,ends:measured,durations:known",
                   {{"after", ReadDuration(reservations.settings.after)},
                    {"max", ReadCount(most, 1, kMost)},
                    {"leastGpus", ReadCount(least_gpus, 0, kMost)},
                    {"error", ReadNumber(reservations.error, 0, 3)},
                    {"ends", ReadWord(reservations.ends_from_users, "users", "measured")},
                    {"durations", ReadWord(reservations.durations_known, "known", "unknown")}});
  if (!read) return read;
  if (reservations.ends_from_users && reservations.error > 0)
    return Fail(ErrorCode::kInvalid, "error: leave it out with ends:users, it is of measured ends");
  reservations.settings.most = static_cast<size_t>(most);
  reservations.settings.least_gpus = Gpus(least_gpus);
  return {};
}

Result<> ReadWholeNodes(std::string_view text, WholeNodes& whole_nodes) {
  constexpr std::array<std::pair<std::string_view, WholeNodes>, 3> kNames = {
      {{"cost", WholeNodes::kByCost},
       {"after-room", WholeNodes::kAfterRoom},
       {"first", WholeNodes::kFirst}}};
  for (const auto& [name, value] : kNames) {
    if (name != text) continue;
    whole_nodes = value;
    return {};
  }
  return Fail(ErrorCode::kInvalid, "write cost, after-room or first");
}

// Reads the servers of each GPU product, and the speed there of models without their own.
Result<> ReadGpuTypes(std::string_view text, SimulateOptions& options) {
  constexpr int64_t kMostServers = 100'000;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const size_t colon = part.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("\"{}\": write PRODUCT:SERVERS, or PRODUCT:SERVERS:SPEED", part));
    }
    const std::string product(part.substr(0, colon));
    const std::string_view numbers = part.substr(colon + 1);
    const std::string_view servers = numbers.substr(0, numbers.find(':'));
    int64_t count = 0;
    if (auto read = ReadCount(count, 1, kMostServers)(servers); !read)
      return WrongOption(product, read.error());
    const auto [known, is_new] = options.gpu_speeds.of_products.emplace(product, 1);
    if (!is_new) return WrongOption(product, "is there twice; write its servers once");
    double& speed = known->second;
    if (servers.size() < numbers.size()) {
      if (auto read = ReadNumber(speed, 1e-6, 1e6)(numbers.substr(servers.size() + 1)); !read)
        return WrongOption(product, read.error());
    }
    options.gpu_types.push_back({product, static_cast<size_t>(count)});
  }
  return {};
}

Result<> ReadGpuSpeeds(std::string_view file, SimulateOptions& options) {
  const std::string name(file);
  const auto text = config::ReadTextFile(name);
  if (!text) return Fail(text.error());
  auto speeds = ParseGpuSpeeds(*text, name);
  if (!speeds) return Fail(speeds.error());
  options.gpu_speeds.of_models = *std::move(speeds);
  return {};
}

Result<> ReadMoves(std::string_view text, std::optional<SimulatedMoves>& moves) {
  if (!moves) moves.emplace();
  return ReadSettings(text, ':', "after:10m", {{"after", ReadDuration(moves->after)}});
}

Result<> ReadSharing(std::string_view text, SimulateOptions& simulate) {
  SharingOptions& options = simulate.sharing.emplace();
  bool moves = false;
  auto read = ReadSettings(text, ':', "height:2,slice:60s,pairs:FILE,pack,known-pairs,moves",
                           {{"height", ReadCount(options.height, 1, GpuTurns::kMostSlots)},
                            {"slice", ReadDuration(options.slice)},
                            {"pairs",
                             [&options](std::string_view file) -> Result<> {
                               const std::string name(file);
                               const auto pairs = config::ReadTextFile(name);
                               if (!pairs) return Fail(pairs.error());
                               auto speeds = ParsePairSpeeds(*pairs, name);
                               if (!speeds) return Fail(speeds.error());
                               options.pairs = *std::move(speeds);
                               return {};
                             }},
                            {"pack", SetFlag(options.packs), true},
                            {"known-pairs", SetFlag(options.knows_pairs), true},
                            {"moves", SetFlag(moves), true}});
  if (!read) return read;
  if (options.slice < GpuTurns::kLeastSlot || options.slice > kMostSuspended) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("slice: write {}s to {}s", Seconds(GpuTurns::kLeastSlot).count(),
                            Seconds(kMostSuspended).count()));
  }
  if (options.packs && options.pairs.empty())
    return Fail(ErrorCode::kInvalid, "pack: add the speeds of pairs, pairs:FILE");
  if (options.knows_pairs && !options.packs)
    return Fail(ErrorCode::kInvalid, "known-pairs: add pack, or leave it out");
  if (moves && !simulate.moves) simulate.moves.emplace();
  return {};
}

// With less bandwidth, no job would ever finish.
constexpr Bytes kLeastBandwidth{1'000'000};

Result<> ReadStorage(std::string_view text, std::optional<StorageOptions>& storage) {
  StorageOptions& options = storage.emplace();
  auto read = ReadSettings(
      text, ':', "bandwidth:500M,known",
      {{"bandwidth", ReadSize(options.bandwidth)}, {"known", SetFlag(options.known), true}});
  if (read && options.bandwidth < kLeastBandwidth) {
    return Fail(ErrorCode::kInvalid,
                "give the bandwidth per second, at least 1M, such as bandwidth:500M");
  }
  return read;
}

// Returns the error of an option that excludes shared GPUs.
Result<> CheckSharing(const SimulateArguments& arguments, const SimulateOptions& options,
                      bool queues) {
  const bool other_mechanisms = arguments.mechanisms != std::vector<std::string>{"synergy"};
  const std::array<std::pair<bool, std::string_view>, 10> excluded = {
      {{other_mechanisms, "another --mechanism than synergy"},
       {queues, "--kueue or a policy other than fifo"},
       {arguments.plan, "--plan"},
       {arguments.live_profiles, "--live-profiles"},
       {options.profiles_after.has_value(), "--profiles-after"},
       {options.starts_from_cluster, "--cluster and --from-cluster"},
       {options.failures.has_value(), "--with failures"},
       {options.reservations.has_value(), "--with reservations"},
       {options.storage.has_value(), "--with storage"},
       {options.faults.node_lost > 0, "node-lost of --with faults"}}};
  for (const auto& [is_there, what] : excluded) {
    if (is_there)
      return WrongOption("--with",
                         fmt::format("sharing: not with {}; leave one of them out", what));
  }
  return {};
}

// Something that --with adds to a simulation. A new feature takes a row here.
struct Feature {
  std::string_view name;
  std::string_view settings;  // in brackets with the "=" if they may be left out
  std::string_view meaning;
  Result<> (*read)(std::string_view settings, SimulateOptions& options);
};
constexpr std::array<Feature, 11> kFeatures = {
    {{"gpu-types", "PRODUCT:SERVERS[:SPEED],...",
      "servers with GPUs of several products, in place of --servers, and the speed of models "
      "there as a factor on their profiles",
      ReadGpuTypes},
     {"gpu-speeds", "FILE",
      "how fast each model is on each product: CSV with model,gpu_product,speed", ReadGpuSpeeds},
     {"faults", "resize-deferred:P,resize-refused:P,call-fails:P,call-late:T,node-lost:RATE",
      "fractions of resizes that kubelets defer or refuse, and of API calls that fail; "
      "greatest delay of a call; nodes lost, per node and day",
      [](std::string_view settings, SimulateOptions& options) {
        return ReadFaults(settings, options.faults);
      }},
     {"cpu-pods", "per-hour:N,cpu:N,memory:SIZE,lasts:T",
      "pods without GPUs that come and go: how many an hour, what each requests, and how long they "
      "run on average",
      [](std::string_view settings, SimulateOptions& options) {
        return ReadCpuPods(settings, options.cpu_pods);
      }},
     {"failures", "philly|acme|FILE[,stop-futile][,elsewhere][,prerun]",
      "jobs fail and are retried as that table assumes; the other words are the actions that their "
      "owners ask for",
      [](std::string_view settings, SimulateOptions& options) -> Result<> {
        auto failures = ReadFailures(settings);
        if (!failures) return Fail(failures.error());
        options.failures = *std::move(failures);
        return {};
      }},
     {"elastic", "least:N,most:N,serial:P",
      "the least and most pods of jobs under --policy fifo:Elastic, and the part of their work "
      "that pods do not share (Amdahl)",
      [](std::string_view settings, SimulateOptions& options) {
        return ReadElastic(settings, options.elastic);
      }},
     {"reservations", "after:T,max:N,leastGpus:N,error:S,ends:E,durations:known",
      "a job that has waited for T reserves nodes from a start time on; before it, only pods that "
      "do not delay the job run there. At most N jobs have reservations, each with at least "
      "leastGpus GPUs. Each job's remaining time is wrong by a lognormal factor (sigma S). With "
      "ends:users, running jobs count as ending at their users' time limits, 1 to 14 times their "
      "durations. With durations:known, the durations of waiting jobs are known",
      [](std::string_view settings, SimulateOptions& options) {
        return ReadReservations(settings, options.reservations);
      }},
     {"whole-nodes", "cost|after-room|first",
      "how the GPUs that a pod leaves free on its node count: as a part of the cost, as in the "
      "product; before the cost, among nodes with room for the pod's demand; or before all else",
      [](std::string_view settings, SimulateOptions& options) {
        return ReadWholeNodes(settings, options.whole_nodes);
      }},
     {"moves", "[=after:T]",
      "running jobs move to other nodes, so that a job which has waited for T (10m) gets room; "
      "each job once, if the gain in GPU time is above twice the cost of its restart "
      "(--restart-cost). All jobs write checkpoints",
      [](std::string_view settings, SimulateOptions& options) {
        return ReadMoves(settings, options.moves);
      }},
     {"sharing", "height:N,slice:T,pairs:FILE,pack,known-pairs,moves",
      "jobs share GPUs (only mechanism synergy). height: the most jobs on a GPU; slice: the length "
      "of their turns; pairs: a CSV file (model,other,gpu_product,speed,other_speed) with the "
      "speeds of two jobs on one GPU; pack: two jobs run at once if measurements show that it "
      "pays; known-pairs: if the file shows it; moves: as --with moves",
      ReadSharing},
     {"storage", "bandwidth:SIZE[,known]",
      "the pods of a node share its storage, which delivers SIZE per second; known: Synergy knows "
      "this and what jobs read, and uses it to place jobs and to divide memory",
      [](std::string_view settings, SimulateOptions& options) {
        return ReadStorage(settings, options.storage);
      }}}};

bool NeedsSettings(const Feature& feature) { return !feature.settings.starts_with('['); }

std::string FeaturesText() {
  std::string text;
  for (const Feature& feature : kFeatures)
    text += fmt::format("\n    {}{}{}: {}", feature.name, NeedsSettings(feature) ? "=" : "",
                        feature.settings, feature.meaning);
  return text;
}

// Returns a line per name.
template <class Names>
std::string LinesOf(const Names& names) {
  std::string text;
  for (const auto& each : names) text += fmt::format("\n    {:<21} {}", each.name, each.meaning);
  return text;
}

Result<> ReadFeature(std::string_view text, SimulateOptions& options) {
  const std::string_view name = text.substr(0, text.find('='));
  std::vector<std::string_view> names;
  for (const Feature& feature : kFeatures) {
    names.push_back(feature.name);
    if (feature.name != name || (name.size() == text.size() && NeedsSettings(feature))) continue;
    const std::string_view settings = text.substr(std::min(name.size() + 1, text.size()));
    const auto read = feature.read(settings, options);
    if (!read) return WrongOption(name, read.error());
    if (!settings.empty() || text == name) return read;
    return WrongOption(name, fmt::format("write some of {}", feature.settings));
  }
  return Fail(ErrorCode::kInvalid, fmt::format("\"{}\": write NAME=SETTINGS, with a name of: {}",
                                               text, fmt::join(names, ", ")));
}

Result<> ReadFeatures(const std::vector<std::string>& features, SimulateOptions& options) {
  std::set<std::string_view> names;
  for (const std::string_view feature : features) {
    const std::string_view name = feature.substr(0, feature.find('='));
    if (!names.insert(name).second) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("{}: is there twice; write its settings into one", name));
    }
    if (auto read = ReadFeature(feature, options); !read) return read;
  }
  return {};
}

Result<> ReadLimits(std::string_view text, std::vector<double>& limits) {
  limits.clear();
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (auto read = ReadNumber(limits.emplace_back(), 0, 1e12)(part); !read) return read;
  }
  return {};
}

Result<QueueSetup> ReadQueue(const SimulateArguments& arguments, const SimulateOptions& options) {
  QueueSetup setup;
  RoundSettings& rounds = setup.rounds;
  rounds.restart_cost = ToDuration(options.restart_cost);
  const auto read = ReadSettings(
      arguments.queue_rounds, '=', kRoundsUsage,
      {{"length", ReadDuration(rounds.round)},
       {"least-run", ReadDuration(rounds.least_run)},
       {"limits", [&](std::string_view text) { return ReadLimits(text, rounds.queues.limits); }},
       {"promote", ReadNumber(rounds.queues.promote, 0, 1e6)},
       {"strict", SetFlag(setup.strict), true},
       {"backfill", SetFlag(rounds.backfill), true},
       {"max-exec",
        [&](std::string_view text) { return ReadNumber(setup.longest.emplace(), 1, 1e6)(text); }}});
  if (!read) return Fail(read.error());
  return setup;
}

// Rejects features that no run would use.
Result<> CheckUse(const SimulateArguments& arguments, const SimulateOptions& options) {
  const std::vector<std::string>& mechanisms = arguments.mechanisms;
  const bool only_baselines = std::all_of(
      mechanisms.begin(), mechanisms.end(),
      [](const std::string& mechanism) { return IsOf(BaselineMechanisms(), mechanism); });
  const std::array<std::pair<bool, std::string_view>, 2> of_synergy = {
      {{options.reservations.has_value(), "reservations"}, {options.moves.has_value(), "moves"}}};
  for (const auto& [is_there, name] : of_synergy) {
    if (is_there && only_baselines) {
      return WrongOption(
          "--with",
          fmt::format("{}: no --mechanism uses them; add synergy, or leave them out", name));
    }
  }
  if (options.gpu_types.empty()) {
    if (!options.gpu_speeds.of_models.empty() && !options.starts_from_cluster)
      return WrongOption("--with", "gpu-speeds: servers have no GPU products; add gpu-types");
    return {};
  }
  if (options.starts_from_cluster)
    return WrongOption("--with", "gpu-types: not with a cluster, whose servers are known");
  if (arguments.servers_written)
    return WrongOption("--servers", "not with --with gpu-types, which counts servers");
  return {};
}

}  // namespace

void AddProductOptions(CLI::App& command, SimulateArguments& arguments) {
  command.get_option("--mechanism")
      ->description("how jobs are placed, and what they get; several for a comparison:" +
                    LinesOf(ProductMechanisms()) + LinesOf(BaselineMechanisms()));
  command.get_option("--policy")
      ->description(
          "the order of jobs in a Kueue queue. fifo without --kueue has no queue: kube-scheduler "
          "places pods as they arrive. fifo and sjf with :Aware or :Ignore set gpuTypes, for the "
          "servers of --with gpu-types. fifo:Elastic sets workers: Elastic, for the jobs of --with "
          "elastic" +
          LinesOf(PolicyNames()))
      ->group("Scheduling");
  command.option_defaults()->group("Scheduling");
  command.add_flag("--kueue", arguments.kueue, "jobs wait in a Kueue queue under fifo, too");
  command.add_option("--queue-rounds", arguments.queue_rounds,
                     fmt::format("fields of the queue's RoundPolicy: {} (strict: queueingStrategy "
                                 "StrictFIFO; backfill: InTime; max-exec: the jobs' maximum "
                                 "execution times, as multiples of their durations), or some of "
                                 "these",
                                 kRoundsUsage));
  command
      .add_option("--with", arguments.with,
                  "what else the cluster has; may be repeated:" + FeaturesText())
      ->take_all();
  command.option_defaults()->group("Output");
  CLI::Option* const plan = command.add_flag(
      "--plan", arguments.plan,
      "show what the mechanism gains on the trace, how many servers you could save without longer "
      "waits (all time in which a job does not run), and how many CPUs a GPU should have; table or "
      "json");
  command.add_option("--baseline", arguments.baseline, "the mechanism with which --plan compares")
      ->needs(plan)
      ->capture_default_str();
  command.add_option("--price", arguments.price, "price of a GPU for an hour, for --plan")
      ->needs(plan)
      ->check(NumberBetween(0, 1e6));
  command.option_defaults()->group("Scheduling");
  command
      .add_option("--seed", arguments.seed,
                  "seed of the faults, failures, cpu-pods, and of models drawn by --split")
      ->check([](const std::string& text) {
        return text.starts_with('-') ? std::string("write a whole number, 0 or more")
                                     : std::string();
      })
      ->capture_default_str();
}

Result<> CheckProductArguments(const SimulateArguments& arguments, SimulateOptions& options) {
  options.always_queues = arguments.kueue;
  const bool queues =
      arguments.kueue || std::any_of(arguments.policies.begin(), arguments.policies.end(),
                                     [](const std::string& policy) { return policy != "fifo"; });
  if (!queues && !arguments.queue_rounds.empty())
    return WrongOption("--queue-rounds", "only with --kueue, or a policy other than fifo");
  auto setup = ReadQueue(arguments, options);
  if (!setup) return WrongOption("--queue-rounds", setup.error());
  for (const std::string& policy : arguments.policies) {
    if (auto read = ReadPolicy(policy, setup->rounds); !read)
      return WrongOption("--policy", read.error());
    if (const auto checked = CheckQueue(*setup); !checked) {
      constexpr std::string_view kOfPolicy = "policy: ";
      const std::string& message = checked.error().message;
      if (message.starts_with(kOfPolicy))
        return WrongOption("--policy", message.substr(kOfPolicy.size()));
      return WrongOption("--queue-rounds", message);
    }
  }
  options.queue = *std::move(setup);
  options.faults.seed = options.cpu_pods.seed = arguments.seed;
  if (const auto read = ReadFeatures(arguments.with, options); !read)
    return WrongOption("--with", read.error());
  if (options.failures) {
    options.failures->seed = arguments.seed;
    if (options.reservations)
      return WrongOption("--with", "failures: not with reservations; leave one of them out");
  }
  if (options.reservations) {
    options.reservations->seed = arguments.seed;
    if (queues)
      return WrongOption("--with", "reservations: not with --kueue, or a policy other than fifo");
  }
  if (options.moves && queues)
    return WrongOption("--with", "moves: not with --kueue, or a policy other than fifo");
  if (options.storage && arguments.live_profiles)
    return WrongOption("--with", "storage: not with --live-profiles; leave one of them out");
  if (options.sharing) {
    if (auto possible = CheckSharing(arguments, options, queues); !possible) return possible;
  }
  const bool is_elastic = std::find(arguments.policies.begin(), arguments.policies.end(),
                                    "fifo:Elastic") != arguments.policies.end();
  if (is_elastic && !options.elastic)
    return WrongOption("--policy", "fifo:Elastic needs elastic jobs: --with elastic");
  if (!is_elastic && options.elastic)
    return WrongOption("--with", "elastic: needs --policy fifo:Elastic");
  if (is_elastic && options.failures)
    return WrongOption("--with", "failures: not with --policy fifo:Elastic; leave one of them out");
  if (is_elastic && arguments.live_profiles)
    return WrongOption("--policy", "fifo:Elastic excludes --live-profiles");
  return CheckUse(arguments, options);
}

}  // namespace synergy::cli
