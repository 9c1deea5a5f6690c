#include "cli/simulate/product_options.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands/simulate_command.h"

namespace synergy::cli::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kPairs = SYNERGY_TEST_DATA "/gavel/pair_speeds.csv";

SimulateOptions Checked(const SimulateArguments& arguments) {
  SimulateOptions options;
  const auto checked = CheckProductArguments(arguments, options);
  EXPECT_TRUE(checked) << checked.error().message;
  return options;
}

std::string ProductErrorOf(const SimulateArguments& arguments) {
  SimulateOptions options;
  const auto checked = CheckProductArguments(arguments, options);
  return checked ? "no error" : checked.error().message;
}

TEST(ProductOptionsTest, JobsQueueUnderOtherPoliciesThanFifo) {
  EXPECT_FALSE(Checked({}).always_queues);
  SimulateArguments arguments;
  arguments.kueue = true;
  EXPECT_TRUE(Checked(arguments).always_queues);
  arguments = {};
  arguments.policies = {"fifo", "las"};
  EXPECT_FALSE(Checked(arguments).always_queues);
}

TEST(ProductOptionsTest, RoundsAreThoseAskedFor) {
  SimulateArguments arguments;
  arguments.policies = {"2d-las"};
  arguments.queue_rounds = "length=10m,least-run=1m,limits=100:200,promote=8,strict";
  const QueueSetup setup = *Checked(arguments).queue;
  EXPECT_EQ(setup.rounds.round, minutes(10));
  EXPECT_EQ(setup.rounds.least_run, minutes(1));
  EXPECT_EQ(setup.rounds.queues.limits, (std::vector<double>{100, 200}));
  EXPECT_EQ(setup.rounds.queues.promote, 8);
  EXPECT_TRUE(setup.strict);
  EXPECT_FALSE(setup.rounds.backfill);
  EXPECT_FALSE(setup.longest);
}

TEST(ProductOptionsTest, BackfillNeedsFifo) {
  SimulateArguments arguments;
  arguments.kueue = true;
  arguments.queue_rounds = "backfill,max-exec=1.5";
  const QueueSetup setup = *Checked(arguments).queue;
  EXPECT_TRUE(setup.rounds.backfill);
  EXPECT_EQ(setup.longest, 1.5);
  arguments.policies = {"las"};
  EXPECT_EQ(ProductErrorOf(arguments),
            "--queue-rounds: backfill: InTime needs policy fifo, without gpuTypes and workers: "
            "Elastic");
  arguments.policies = {"fifo"};
  arguments.queue_rounds = "max-exec=0.5";
  EXPECT_EQ(ProductErrorOf(arguments),
            "--queue-rounds: max-exec: \"0.5\" is not a number from 1 to 1000000");
}

TEST(ProductOptionsTest, PodsWithoutGpusAreDescribedWhole) {
  EXPECT_EQ(Checked({}).cpu_pods.per_hour, 0);
  SimulateArguments arguments;
  arguments.with = {"cpu-pods=per-hour:60,cpu:0.5,memory:16GB,lasts:30m"};
  arguments.seed = 9;
  const CpuPodLoad load = Checked(arguments).cpu_pods;
  EXPECT_EQ(load.per_hour, 60);
  EXPECT_EQ(load.requests, (ResourceVector{Gpus(0), MilliCpu(500), Bytes(16'000'000'000)}));
  EXPECT_EQ(load.lasts, minutes(30));
  EXPECT_EQ(load.seed, 9U);
  for (const char* wrong : {"cpu-pods=per-hour:60,cpu:4,memory:16GB", "cpu-pods=cpu:0",
                            "cpu-pods=per-hour:60,cpu:4,memory:0GB,lasts:1m", "cpu-pods=often"}) {
    arguments.with = {wrong};
    EXPECT_THAT(ProductErrorOf(arguments), StartsWith("--with: ")) << wrong;
  }
}

TEST(ProductOptionsTest, FailuresHaveATableAndWhatOwnersOptInto) {
  EXPECT_FALSE(Checked({}).failures);
  SimulateArguments arguments;
  arguments.seed = 9;
  for (const char* table : {"philly", "acme"}) {
    arguments.with = {std::string("failures=") + table};
    const auto failures = Checked(arguments).failures;
    ASSERT_TRUE(failures) << table;
    EXPECT_EQ(failures->actions, RetryActions{});
    EXPECT_FALSE(failures->prerun);
    EXPECT_EQ(failures->seed, 9U);
    double jobs = 0;
    for (const FailureAssumption& failure : failures->assumptions) {
      jobs += failure.jobs;
      // A failure after which stop-futile may act happens again.
      if (EntryOf(failure.category).stops != StopsAfter::kNever) {
        EXPECT_EQ(failure.again, 1);
      }
    }
    EXPECT_NEAR(jobs, table == std::string("philly") ? 0.172 : 0.397, 0.001) << table;
  }
  arguments.with = {"failures=philly,prerun,elsewhere,stop-futile"};
  const auto failures = Checked(arguments).failures;
  ASSERT_TRUE(failures);
  EXPECT_EQ(failures->actions, (RetryActions{.stop_futile = true, .elsewhere = true}));
  EXPECT_TRUE(failures->prerun);
}

TEST(ProductOptionsTest, AWrongWordOfFailuresIsNamedWithItsCure) {
  constexpr const char* kTables = "write philly, acme or the name of a CSV file";
  constexpr const char* kWords = "write stop-futile,elsewhere,prerun, or some of these, each once";
  for (const auto& [wrong, name, cure] : std::vector<std::array<const char*, 3>>{
           {"failures", "\"failures\"", "write NAME=SETTINGS"},
           {"failures=", "failures", kTables},
           {"failures=,prerun", "failures", kTables},
           {"failures=phily", "phily: cannot be read", kTables},
           {"failures=philly,luck", "\"luck\"", kWords},
           {"failures=philly,prerun:1", "\"prerun:1\"", kWords},
           {"failures=philly,prerun,prerun", "\"prerun\"", kWords},
           {"failures=prerun", "prerun: cannot be read", kTables}}) {
    SimulateArguments arguments;
    arguments.with = {wrong};
    EXPECT_THAT(ProductErrorOf(arguments), StartsWith("--with: ")) << wrong;
    EXPECT_THAT(ProductErrorOf(arguments), HasSubstr(name)) << wrong;
    EXPECT_THAT(ProductErrorOf(arguments), HasSubstr(cure)) << wrong;
  }
}

TEST(ProductOptionsTest, FailuresExcludeReservationsAndElasticJobs) {
  SimulateArguments arguments;
  arguments.with = {"failures=philly", "reservations=after:10m"};
  EXPECT_THAT(ProductErrorOf(arguments), StartsWith("--with: failures: not with reservations"));
  arguments.with = {"failures=philly", "elastic=most:8"};
  arguments.policies = {"fifo:Elastic"};
  EXPECT_THAT(ProductErrorOf(arguments), StartsWith("--with: failures: not with --policy"));
}

TEST(ProductOptionsTest, AFeatureIsGivenOnce) {
  SimulateArguments arguments;
  arguments.with = {"failures=philly", "faults=call-fails:0.1", "failures=acme"};
  EXPECT_EQ(ProductErrorOf(arguments),
            "--with: failures: is there twice; write its settings into one");
}

TEST(ProductOptionsTest, ElasticJobsNeedTheirPolicyAndItNeedsThem) {
  SimulateArguments arguments;
  arguments.with = {"elastic=most:8,serial:0.05"};
  EXPECT_THAT(ProductErrorOf(arguments), StartsWith("--with: elastic"));
  arguments.policies = {"fifo", "fifo:Elastic"};
  const SimulateOptions options = Checked(arguments);
  ASSERT_TRUE(options.elastic);
  EXPECT_EQ(options.elastic->least, 1);
  EXPECT_EQ(options.elastic->most, 8);
  EXPECT_EQ(options.elastic->serial, 0.05);
  arguments.with.clear();
  EXPECT_THAT(ProductErrorOf(arguments), StartsWith("--policy: fifo:Elastic needs"));
  arguments.policies = {"las:Elastic"};
  EXPECT_THAT(ProductErrorOf(arguments), StartsWith("--policy: unknown policy"));
  arguments.policies = {"fifo:Elastic"};
  for (const char* wrong : {"elastic=least:4", "elastic=least:4,most:2", "elastic=most:1.5"}) {
    arguments.with = {wrong};
    EXPECT_THAT(ProductErrorOf(arguments), StartsWith("--with: ")) << wrong;
  }
}

TEST(ProductOptionsTest, ReservationsAreOffUnlessAskedFor) {
  EXPECT_FALSE(Checked({}).reservations);
  SimulateArguments arguments;
  arguments.with = {"reservations=after:8h,max:3,leastGpus:8,error:0.3,durations:known"};
  arguments.seed = 9;
  const SimulateOptions options = Checked(arguments);
  ASSERT_TRUE(options.reservations);
  EXPECT_EQ(options.reservations->settings.after, std::chrono::hours(8));
  EXPECT_EQ(options.reservations->settings.most, 3U);
  EXPECT_EQ(options.reservations->settings.least_gpus, Gpus(8));
  EXPECT_EQ(options.reservations->error, 0.3);
  EXPECT_TRUE(options.reservations->durations_known);
  EXPECT_EQ(options.reservations->seed, 9U);
  EXPECT_FALSE(options.reservations->ends_from_users);
  arguments.with = {"reservations=ends:users"};
  EXPECT_TRUE(Checked(arguments).reservations->ends_from_users);
  arguments.with = {"reservations=after:10m,ends:measured"};
  EXPECT_FALSE(Checked(arguments).reservations->ends_from_users);
  arguments.with = {"reservations=after:10m"};
  arguments.kueue = true;
  EXPECT_EQ(ProductErrorOf(arguments),
            "--with: reservations: not with --kueue, or a policy other than fifo");
}

TEST(ProductOptionsTest, ErrorsOfReservationsNameTheSettingAndTheCure) {
  const std::pair<std::string, std::string> cases[] = {
      {"max:0", "max: \"0\" is not a whole number from 1 to 1000000"},
      {"max:1.5", "max: \"1.5\" is not a whole number from 1 to 1000000"},
      {"leastGpus:-1", "leastGpus: \"-1\" is not a whole number from 0 to 1000000"},
      {"after:10", "after: \"10\" is not a duration: write it as 10ms, 300s, 5m, 1.5h or 2d"},
      {"error:nan", "error: \"nan\" is not a number from 0 to 3"},
      {"durations:yes", "durations: \"yes\": write known or unknown"},
      {"ends:never", "ends: \"never\": write users or measured"},
      {"ends:users,error:0.3", "error: leave it out with ends:users, it is of measured ends"},
      {"before:10m",
       "\"before:10m\": write after:10m,max:1,leastGpus:8,error:0.3,ends:measured,durations:known, "
       "or some of these, each once"}};
  for (const auto& [settings, error] : cases) {
    SimulateArguments arguments;
    arguments.with = {"reservations=" + settings};
    EXPECT_EQ(ProductErrorOf(arguments), "--with: reservations: " + error);
  }
}

TEST(ProductOptionsTest, FeaturesThatNoRunWouldUseAreRejected) {
  SimulateArguments arguments;
  arguments.mechanisms = {"proportional"};
  for (const char* feature : {"reservations=after:10m", "moves"}) {
    arguments.with = {feature};
    EXPECT_THAT(ProductErrorOf(arguments), ::testing::HasSubstr("no --mechanism uses them"));
  }
  arguments.with = {"gpu-types=v100:2"};
  EXPECT_EQ(ProductErrorOf(arguments), "no error");
  arguments.servers_written = true;
  EXPECT_THAT(ProductErrorOf(arguments), StartsWith("--servers: not with --with gpu-types"));
  arguments.with = {"faults="};
  EXPECT_THAT(ProductErrorOf(arguments),
              StartsWith("--with: faults: write some of resize-deferred:P"));
}

TEST(ProductOptionsTest, FaultsAreOffUnlessAskedFor) {
  EXPECT_FALSE(Checked({}).faults.any());
  SimulateArguments arguments;
  arguments.with = {
      "faults=resize-deferred:0.1,resize-refused:0.2,call-fails:0.3,call-late:50ms,node-lost:0.5"};
  arguments.seed = 9;
  const FaultRates faults = Checked(arguments).faults;
  EXPECT_EQ(faults.resize_deferred, 0.1);
  EXPECT_EQ(faults.resize_refused, 0.2);
  EXPECT_EQ(faults.call_fails, 0.3);
  EXPECT_EQ(faults.call_late, milliseconds(50));
  EXPECT_EQ(faults.node_lost, 0.5);
  EXPECT_EQ(faults.seed, 9U);
}

TEST(ProductOptionsTest, SharingIsHeightAndSliceAndHowPairsArePacked) {
  EXPECT_FALSE(Checked({}).sharing);
  SimulateArguments arguments;
  arguments.with = {"sharing=height:3,slice:50s"};
  const auto turns = Checked(arguments).sharing;
  ASSERT_TRUE(turns);
  EXPECT_EQ(turns->height, 3);
  EXPECT_EQ(turns->slice, seconds(50));
  EXPECT_FALSE(turns->packs);
  arguments.with = {"sharing=height:2,pack,known-pairs,pairs:" + kPairs};
  const auto packs = Checked(arguments).sharing;
  ASSERT_TRUE(packs);
  EXPECT_TRUE(packs->packs);
  EXPECT_TRUE(packs->knows_pairs);
  EXPECT_EQ(packs->pairs.all().size(), 976U);
}

TEST(ProductOptionsTest, AWrongSettingOfSharingIsNamedWithItsCure) {
  for (const auto& [wrong, error] : std::vector<std::array<const char*, 2>>{
           {"height:5", "height: \"5\" is not a whole number from 1 to 4"},
           {"height:1.5", "height: \"1.5\" is not a whole number"},
           {"slice:20s", "slice: write 30s to 110s"},
           {"slice:soon", "slice: "},
           {"height:2,pack", "pack: add the speeds of pairs, pairs:FILE"},
           {"height:2,known-pairs", "known-pairs: add pack"},
           {"pairs:/no/such/file", "pairs: /no/such/file: cannot be read"},
           {"luck", "\"luck\": write height:2,slice:60s,pairs:FILE,pack,known-pairs,moves"}}) {
    SimulateArguments arguments;
    arguments.with = {std::string("sharing=") + wrong};
    EXPECT_THAT(ProductErrorOf(arguments), StartsWith(std::string("--with: sharing: ") + error));
  }
}

TEST(ProductOptionsTest, MovesAreAFeatureOfTheirOwnAndOfSharedGpus) {
  EXPECT_FALSE(Checked({}).moves);
  SimulateArguments arguments;
  for (const auto& with : std::vector<std::vector<std::string>>{
           {"moves"}, {"moves=after:10m"}, {"sharing=height:2,slice:60s,moves"}}) {
    arguments.with = with;
    const auto moves = Checked(arguments).moves;
    ASSERT_TRUE(moves) << with.front();
    EXPECT_EQ(moves->after, std::chrono::minutes(10));
  }
  for (const auto& with :
       std::vector<std::vector<std::string>>{{"moves=after:90s", "sharing=height:2,moves"},
                                             {"sharing=height:2,moves", "moves=after:90s"}}) {
    arguments.with = with;
    EXPECT_EQ(Checked(arguments).moves->after, seconds(90));
  }
  arguments.with = {"sharing=height:2"};
  EXPECT_FALSE(Checked(arguments).moves);
  arguments.with = {"moves=before:1m"};
  EXPECT_THAT(ProductErrorOf(arguments),
              StartsWith("--with: moves: \"before:1m\": write after:10m"));
  arguments.with = {"moves"};
  arguments.kueue = true;
  EXPECT_THAT(ProductErrorOf(arguments), StartsWith("--with: moves: not with --kueue"));
}

TEST(ProductOptionsTest, SharingExcludesWhatIsNotSimulatedWithIt) {
  SimulateArguments sharing;
  sharing.with = {"sharing=height:2"};
  Checked(sharing);
  const auto expect_refused = [](const SimulateArguments& arguments, const std::string& what) {
    EXPECT_EQ(ProductErrorOf(arguments),
              "--with: sharing: not with " + what + "; leave one of them out");
  };
  SimulateArguments arguments = sharing;
  arguments.mechanisms = {"synergy", "burstable-spread"};
  expect_refused(arguments, "another --mechanism than synergy");
  arguments = sharing;
  arguments.kueue = true;
  expect_refused(arguments, "--kueue or a policy other than fifo");
  arguments = sharing;
  arguments.live_profiles = true;
  expect_refused(arguments, "--live-profiles");
  arguments = sharing;
  arguments.with.emplace_back("failures=acme");
  expect_refused(arguments, "--with failures");
  arguments = sharing;
  arguments.with.emplace_back("storage=bandwidth:1GB");
  expect_refused(arguments, "--with storage");
  arguments = sharing;
  arguments.with.emplace_back("faults=node-lost:1");
  expect_refused(arguments, "node-lost of --with faults");
}

TEST(ProductOptionsTest, StorageHasABandwidthAndIsKnownOrNot) {
  EXPECT_FALSE(Checked({}).storage);
  SimulateArguments arguments;
  arguments.with = {"storage=bandwidth:500M"};
  auto storage = Checked(arguments).storage;
  ASSERT_TRUE(storage);
  EXPECT_EQ(storage->bandwidth, Bytes(500'000'000));
  EXPECT_FALSE(storage->known);
  arguments.with = {"storage=known,bandwidth:1GB"};
  storage = Checked(arguments).storage;
  ASSERT_TRUE(storage);
  EXPECT_EQ(storage->bandwidth, GB(1));
  EXPECT_TRUE(storage->known);
  arguments.live_profiles = true;
  EXPECT_EQ(ProductErrorOf(arguments),
            "--with: storage: not with --live-profiles; leave one of them out");
}

TEST(ProductOptionsTest, AWrongSettingOfStorageIsNamedWithItsCure) {
  for (const auto& [wrong, error] : std::vector<std::array<const char*, 2>>{
           {"known", "give the bandwidth per second, at least 1M, such as bandwidth:500M"},
           {"bandwidth:0GB", "give the bandwidth per second, at least 1M, such as bandwidth:500M"},
           {"bandwidth:1K", "give the bandwidth per second, at least 1M, such as bandwidth:500M"},
           {"bandwidth:500", "bandwidth: "},
           {"known:1", "\"known:1\": write bandwidth:500M,known"},
           {"fast", "\"fast\": write bandwidth:500M,known"}}) {
    SimulateArguments arguments;
    arguments.with = {std::string("storage=") + wrong};
    EXPECT_THAT(ProductErrorOf(arguments), StartsWith(std::string("--with: storage: ") + error));
  }
}

TEST(ProductOptionsTest, AGpuTypeIsGivenOnceAndAFeatureWithAnEqualsSignHasSettings) {
  SimulateArguments arguments;
  arguments.with = {"gpu-types=V100:1:1,V100:1:0.4"};
  EXPECT_EQ(ProductErrorOf(arguments),
            "--with: gpu-types: V100: is there twice; write its servers once");
  arguments.with = {"moves="};
  EXPECT_THAT(ProductErrorOf(arguments), StartsWith("--with: moves: write some of "));
  arguments.with = {"moves"};
  EXPECT_EQ(ProductErrorOf(arguments), "no error");
}

// Returns the error of the command's options.
std::string ParseError(std::vector<std::string> words) {
  CLI::App app;
  SimulateArguments arguments;
  AddSimulate(app, arguments);
  words.insert(words.begin(), "simulate");
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ProductOptionsTest, NoNumberAndAnEmptyValueAreRefused) {
  EXPECT_EQ(ParseError({"--plan", "--price", "2", "--load", "0.8,1", "--gpu-speed", "2"}),
            "no error");
  for (const std::string option :
       {"--load", "--gpu-speed", "--spread-factor", "--rack-spread-factor", "--price"}) {
    for (const std::string value : {"nan", "-nan", "inf", "1e9", "-1"})
      EXPECT_THAT(ParseError({"--plan", option, value}), HasSubstr("not in range")) << option;
  }
  for (const std::string option : {"--profiles", "--recorded", "--latency", "--queue-rounds",
                                   "--timeline", "--with", "--generate", "--memory", "--save"}) {
    EXPECT_THAT(ParseError({option, ""}), HasSubstr(option + ": is empty")) << option;
  }
}

TEST(ProductOptionsTest, ErrorsNameTheOptionAndWhatMayBeWritten) {
  SimulateArguments arguments;
  arguments.with = {"luck=1"};
  EXPECT_EQ(
      ProductErrorOf(arguments),
      "--with: \"luck=1\": write NAME=SETTINGS, with a name of: gpu-types, gpu-speeds, "
      "faults, cpu-pods, failures, elastic, reservations, whole-nodes, moves, sharing, storage");
  arguments.with = {"faults"};
  EXPECT_THAT(ProductErrorOf(arguments), StartsWith("--with: \"faults\": write NAME=SETTINGS"));
  arguments.with = {"faults=call-fails:2"};
  EXPECT_EQ(ProductErrorOf(arguments),
            "--with: faults: call-fails: \"2\" is not a number from 0 to 0.9");
  arguments.with = {"faults=call-fail:0.1"};
  EXPECT_THAT(ProductErrorOf(arguments),
              StartsWith("--with: faults: \"call-fail:0.1\": write resize-deferred:0.1,"));
  arguments = {};
  arguments.queue_rounds = "length=10m";
  EXPECT_EQ(ProductErrorOf(arguments),
            "--queue-rounds: only with --kueue, or a policy other than fifo");
  arguments.kueue = true;
  arguments.queue_rounds = "strict=1";
  EXPECT_THAT(ProductErrorOf(arguments), StartsWith("--queue-rounds: \"strict=1\": write length="));
  arguments.queue_rounds.clear();
  arguments.policies = {"luck"};
  EXPECT_THAT(ProductErrorOf(arguments),
              StartsWith("--policy: unknown policy 'luck': use one of fifo"));
}

}  // namespace
}  // namespace synergy::cli::testing
