#include "research/lab/lab_options.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::cli::testing {
namespace {

LabArguments Good(LabKind kind) {
  LabArguments arguments;
  arguments.kind = kind;
  arguments.workloads = {"jobs=10"};
  arguments.profiles = "profiles.json";
  return arguments;
}

std::string ErrorOf(const LabArguments& arguments) {
  const auto options = CheckLabArguments(arguments);
  return options ? "no error" : options.error().message;
}

TEST(LabOptionsTest, ReadsAllOptions) {
  LabArguments arguments = Good(LabKind::kReference);
  EXPECT_FALSE(CheckLabArguments(arguments)->consolidate);
  arguments.placement = "consolidate";
  arguments.round = "10m";
  const auto options = CheckLabArguments(arguments);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(options->consolidate);
  EXPECT_EQ(options->round, Seconds(600));
  EXPECT_FALSE(options->types);
  arguments = Good(LabKind::kRounds);
  arguments.lease = "20m";
  EXPECT_EQ(CheckLabArguments(arguments)->lease, Seconds(1200));
}

TEST(LabOptionsTest, GeneratedTraceDefaultsToGeneratedArrivals) {
  const auto arrivals = [](const char* written, bool made) {
    LabArguments arguments = Good(LabKind::kReference);
    arguments.arrivals = written;
    if (!made) {
      arguments.workloads.clear();
      arguments.traces = {"trace.csv"};
    }
    const auto options = CheckLabArguments(arguments);
    EXPECT_TRUE(options) << options.error().message;
    return options->arrivals;
  };
  EXPECT_EQ(arrivals("auto", /*made=*/true), ReferenceArrivals::kGenerated);
  EXPECT_EQ(arrivals("auto", /*made=*/false), ReferenceArrivals::kAuto);
  for (const bool made : {true, false}) {
    EXPECT_EQ(arrivals("static", made), ReferenceArrivals::kStatic);
    EXPECT_EQ(arrivals("replay", made), ReferenceArrivals::kReplay);
    EXPECT_EQ(arrivals("generated", made), ReferenceArrivals::kGenerated);
  }
}

TEST(LabOptionsTest, AuthorsSimulatorHasItsOwnOptions) {
  LabArguments arguments = Good(LabKind::kRounds);
  arguments.placement = "consolidate";
  EXPECT_EQ(ErrorOf(arguments),
            "--placement: only for synergy-lab reference; our mechanisms always consolidate");
  arguments = Good(LabKind::kRounds);
  arguments.arrivals = "replay";
  EXPECT_EQ(ErrorOf(arguments),
            "--arrivals: only for synergy-lab reference; our rounds always begin with the first "
            "arrival and end with the last job");
  arguments.arrivals = "live";
  EXPECT_TRUE(ErrorOf(arguments).starts_with("--arrivals: "));
  arguments = Good(LabKind::kReference);
  arguments.cluster = "cluster.json";
  EXPECT_EQ(ErrorOf(arguments), "--cluster: the authors' simulator only supports empty clusters");
}

TEST(LabOptionsTest, OnlyOurRoundsHaveChanges) {
  const auto error = [](const LabArguments& arguments) {
    const auto checked = CheckFiles(arguments);
    return checked ? "no error" : checked.error().message;
  };
  LabArguments arguments = Good(LabKind::kRounds);
  arguments.html = "page.html";
  EXPECT_EQ(error(arguments), "no error");
  arguments.kind = LabKind::kTiresias;
  EXPECT_EQ(error(arguments), "--html: only in our rounds");
  arguments.html.clear();
  arguments.changes = "changes.csv";
  EXPECT_EQ(error(arguments), "--changes: only in our rounds");
  arguments.kind = LabKind::kRounds;
  arguments.elastic = true;
  EXPECT_EQ(error(arguments), "--changes: not with --elastic");
}

TEST(LabOptionsTest, LimitsOfQueuesAscend) {
  EXPECT_TRUE(CheckQueueLimits(std::vector<double>{3250, 7200}));
  EXPECT_FALSE(CheckQueueLimits(std::vector<double>{7200, 3250}));
  EXPECT_FALSE(CheckQueueLimits(std::vector<double>{0}));
  EXPECT_FALSE(CheckQueueLimits(std::vector<double>(65, 1)));
}

}  // namespace
}  // namespace synergy::cli::testing
