#include "cli/views/profile_list.h"

#include <chrono>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProfileObject Make(const std::string& name, std::vector<JobProfile::Point> points) {
  ProfileObject object;
  object.profile_namespace = "team";
  object.name = name;
  object.training.model = "ResNet18";
  object.training.gpus = Gpus(1);
  auto profile = JobProfile::Create(Gpus(1), std::move(points));
  if (profile) object.profile = std::make_shared<const JobProfile>(*std::move(profile));
  return object;
}

TEST(ProfileListTest, ACurveHasABarForEachAmount) {
  const ProfileObject object = Make("resnet18", {{Cores(1), MiB(1024), 5},
                                                 {Cores(1), MiB(4096), 10},
                                                 {Cores(9), MiB(1024), 10},
                                                 {Cores(9), MiB(4096), 20}});
  EXPECT_EQ(ProfileText(object, WallTime{}),
            "Profile team/resnet18: ResNet18, 1 GPU of any product\n"
            "Process memory unknown, so memory is not changed\n"
            "Throughput by CPU, with 4Gi of memory\n"
            "  1  10  " +
                std::string(25, '#') +
                "\n"
                "  9  20  " +
                std::string(50, '#') +
                "\n"
                "Throughput by memory, with 9 CPU\n"
                "  1Gi  10  " +
                std::string(25, '#') +
                "\n"
                "  4Gi  20  " +
                std::string(50, '#') + "\n");
}

TEST(ProfileListTest, WithOneMemoryAmountThereIsOneCurve) {
  const ProfileObject object = Make("gnmt", {{Cores(1), MiB(1024), 5}, {Cores(3), MiB(1024), 5}});
  EXPECT_THAT(ProfileText(object, WallTime{}), Not(HasSubstr("by memory")));
}

TEST(ProfileListTest, ShowsResultsOfPacks) {
  ProfileObject object = Make("measured-bert", {});
  object.workload = "bert";
  const WallTime now{std::chrono::hours(500000)};
  object.packing = {
      {"cnn", true, 0.8, 0.7, 0, now - std::chrono::hours(2), {}},
      {"gpt", false, 0.4, 0.3, 2, now - std::chrono::minutes(5), std::chrono::minutes(20)}};
  const std::string text = ProfileText(object, now);
  EXPECT_THAT(text, HasSubstr("At the same time on one GPU, relative to speeds alone\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("cnn +good +0.80 +0.70 +- +- +2h"));
  EXPECT_THAT(text, ::testing::ContainsRegex("gpt +refused +0.40 +0.30 +2 +in 15m +5m"));
  EXPECT_THAT(ToJson(ToTree(object)), HasSubstr(R"("verdict": "Refused")"));
}

TEST(ProfileListTest, ShowsWhatIsWrong) {
  ProfileObject object = Make("broken", {});
  object.problems = {"spec.points: is empty"};
  EXPECT_THAT(ProfileText(object, WallTime{}), HasSubstr("Invalid: spec.points: is empty\n"));
  EXPECT_THAT(ToJson(ToTree(object)), HasSubstr("spec.points: is empty"));
}

TEST(ProfileListTest, TheTableShowsWhatTheControllerFound) {
  ProfileObject judged = Make("resnet18", {{Cores(1), MiB(1024), 5}});
  judged.status.demand_cpu = "9";
  judged.status.valid = "True";
  const std::string table =
      ToText(ShowProfiles(Profiles({judged, Make("new", {})}), true, WallTime{}));
  EXPECT_THAT(table, HasSubstr("team       resnet18  ResNet18  -            1    9"));
  EXPECT_THAT(table, HasSubstr("not checked yet"));
  EXPECT_EQ(ToText(ShowProfiles(Profiles(), false, WallTime{})), "");
}

ProfileObject MeasuredBert() {
  ProfileObject object =
      Make("measured-bert-1gpu", {{MilliCpu(500), Bytes(1), 5}, {Cores(1), Bytes(1), 10}});
  object.workload = "bert";
  object.training.gpu_product = "A100";
  object.status.demand_cpu = "1";
  MeasuredProfile& measured = object.measured.emplace();
  measured.workload = "bert";
  measured.gpu_product = "A100";
  measured.node = "n1";
  measured.revision = 3;
  measured.points = {{MilliCpu(500), 5, PointCertainty::kExact, 2, 0.015},
                     {Cores(1), 10, PointCertainty::kAtLeast, 1},
                     {Cores(4), 10, PointCertainty::kGuess}};
  measured.cpu_seconds = 0.1;
  measured.confirmed = true;
  measured.probes = 2;
  measured.lost_iterations = 12.5;
  measured.note = "It waits for its data.";
  return object;
}

TEST(ProfileListTest, DistinguishesMeasuredFromGivenProfiles) {
  const WallTime now(std::chrono::seconds(90));
  const std::string table = ToText(
      ShowProfiles(Profiles({MeasuredBert(), Make("given", {{Cores(1), GiB(1), 5}})}), false, now));
  EXPECT_THAT(table, HasSubstr("measured  confirmed   90s"));
  EXPECT_THAT(table, HasSubstr("given     -           -"));
  ProfileObject object = MeasuredBert();
  object.measured->drifted = true;
  EXPECT_EQ(ConfidenceOf(*object.measured), "drifted");
  object.measured->drifted = object.measured->confirmed = false;
  EXPECT_EQ(ConfidenceOf(*object.measured), "estimated");
}

TEST(ProfileListTest, ShowsTheGangSizeOfACurve) {
  ProfileObject object = MeasuredBert();
  object.gang_size = object.measured->gang_size = 4;
  EXPECT_THAT(ProfileText(object, WallTime{}),
              HasSubstr("1 GPU of product A100, in gangs of 4, with this CPU for each pod\n"));
}

TEST(ProfileListTest, ShowsTheCertaintyOfEachPoint) {
  EXPECT_EQ(ProfileText(MeasuredBert(), WallTime(std::chrono::seconds(90))),
            "Profile team/measured-bert-1gpu: bert, 1 GPU of product A100\n"
            "Demand cpu 1; - times as fast with it as with the fair share\n"
            "Measured 90s ago on node n1, revision 3: confirmed; 2 probes cost 12.5 "
            "iterations\n"
            "An iteration takes 0.1 s of CPU time\n"
            "Process memory unknown, so memory is not changed\n"
            "It waits for its data.\n"
            "  CPU   ITERATIONS/S  CERTAINTY  SEEN  SPREAD  THROUGHPUT\n"
            "  500m  5             exact      2     1.5 %   " +
                std::string(25, '#') +
                "\n"
                "  1     10            at least   1     0.0 %   " +
                std::string(50, '#') +
                "\n"
                "  4     10            guess      0     0.0 %   " +
                std::string(50, '#') + "\n");
}

TEST(ProfileListTest, ShowsMemoryWithItsUncertainty) {
  ProfileObject object = MeasuredBert();
  object.measured->memory = MeasuredMemory{GiB(8), GiB(40), MiB(4), MiB(500), false};
  EXPECT_THAT(
      ProfileText(object, WallTime{}),
      HasSubstr("Processes need 8Gi of memory, or more: observed for less than an hour, so memory "
                "is not reclaimed; an epoch reads 40Gi, an iteration 4Mi, from storage up to "
                "500Mi/s\n"));
  object.measured->memory = MeasuredMemory{.process = GiB(8), .confirmed = true};
  EXPECT_THAT(ProfileText(object, WallTime{}),
              HasSubstr("Processes need 8Gi of memory; almost no data are read\n"));
  object.measured->raise = MemoryRaise{.process = GiB(12), .too_small = GiB(9), .times = 1};
  EXPECT_THAT(ProfileText(object, WallTime{}),
              HasSubstr("Processes need 8Gi of memory; since one was killed at 9Gi, they count as "
                        "needing 12Gi (raised 1 of 2 times); almost no data are read\n"));
  object.measured->memory->raise_over = object.measured->raise->at;
  EXPECT_THAT(ProfileText(object, WallTime{}),
              HasSubstr("since one was killed at 9Gi, they count as needing 9Gi; almost"));
  EXPECT_THAT(ToJson(ToTree(object)), HasSubstr(R"("process": "8Gi")"));
}

TEST(ProfileListTest, AnEstimateIsCalledOneAndIsNotExported) {
  ProfileObject object = MeasuredBert();
  object.measured->estimate = object.measured->censored = true;
  object.measured->confirmed = false;
  EXPECT_EQ(ConfidenceOf(*object.measured), "GPU busy");
  const std::string text = ProfileText(object, WallTime(std::chrono::seconds(90)));
  EXPECT_THAT(text, HasSubstr("revision 3: GPU busy"));
  EXPECT_THAT(text, HasSubstr("A second of busy GPUs takes 0.1 s of CPU time\nAn estimate by how "
                              "busy its GPUs are"));
  EXPECT_THAT(text, HasSubstr("CPU   GPU BUSY S/S"));
  EXPECT_THAT(ToJson(ToTree(object)), HasSubstr("\"estimate\": true"));
  const auto manifest = ToManifest(object);
  ASSERT_FALSE(manifest);
  EXPECT_THAT(manifest.error().message, HasSubstr("estimate"));
}

TEST(ProfileListTest, ManifestOfAMeasuredProfileOmitsGuesses) {
  ProfileObject object = MeasuredBert();
  const auto manifest = ToManifest(object);
  ASSERT_TRUE(manifest);
  EXPECT_EQ(ToYaml(*manifest), R"(apiVersion: "synergy.io/v1alpha1"
kind: TrainingProfile
metadata:
  namespace: team
  name: given-bert-1gpu
spec:
  gpuProduct: A100
  gpus: 1
  points:
    - cpu: "500m"
      memory: "1Mi"
      throughput: 5
    - cpu: "1"
      memory: "1Mi"
      throughput: 10
)");
  object.measured->memory = MeasuredMemory{GiB(8), GiB(40), MiB(4), MiB(500), false};
  EXPECT_EQ(ToYaml(*ToManifest(object)), ToYaml(*manifest)) << "nobody is sure of it yet";
  object.measured->memory->confirmed = true;
  const std::string with_memory = ToYaml(*ToManifest(object));
  EXPECT_THAT(with_memory, HasSubstr(R"(  processMemory: "8Gi"
  datasetSize: "40Gi"
  storageBandwidth: "500Mi"
  bytesPerSample: "4Mi"
  points:
    - cpu: "500m"
      throughput: 5
)"));
  object.measured->memory->storage_bandwidth.reset();
  EXPECT_THAT(ToYaml(*ToManifest(object)), HasSubstr(R"(  processMemory: "8Gi"
  points:
    - cpu: "500m"
      memory: "48Gi"
)"));
  object.name = std::string(100, 'a');
  EXPECT_THAT(ToYaml(*ToManifest(object)), HasSubstr("name: given-" + std::string(57, 'a') + "\n"));
  EXPECT_FALSE(ToManifest(Make("given", {{Cores(1), GiB(1), 5}})));
}

}  // namespace
}  // namespace synergy::cli::testing
