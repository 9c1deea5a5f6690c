#include "config/profile_file.h"

#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::testing {
namespace {

using config::ParseProfiles;
using config::ProfileFile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

ProfileFile ReadProfileFile(const std::string& text) {
  Result<ProfileFile> file = ParseProfiles(text, "profiles.yaml");
  EXPECT_TRUE(file.has_value()) << file.error().message;
  return file.value_or(ProfileFile{});
}

std::string ProfileFileError(const std::string& text) {
  const Result<ProfileFile> file = ParseProfiles(text, "profiles.yaml");
  if (file) return "no error";
  EXPECT_EQ(file.error().code, ErrorCode::kInvalid);
  return file.error().message;
}

// Returns a profile that is valid except, possibly, for these points.
std::string WithPoints(const std::string& points) {
  return "profiles:\n- model: m\n  points:\n" + points;
}

TEST(ProfileFileTest, MeasuredPointsAreReadWithKubernetesQuantities) {
  const ProfileFile file = ReadProfileFile(R"(
profiles:
- model: resnet50
  gpuProduct: NVIDIA-A100-SXM4-80GB
  gpus: 2
  points:
  - {cpu: "3", memory: 62.5Gi, throughput: 1.0}
  - {cpu: 4500m, memory: "62500M", throughput: 1.15}
  - {cpu: 1.5, memory: 1e9, throughput: 5e-1}
)");
  ASSERT_THAT(file.entries, SizeIs(1));
  const TrainingProfile& training = file.entries[0].training;
  EXPECT_EQ(training.model, "resnet50");
  EXPECT_EQ(training.gpu_product, "NVIDIA-A100-SXM4-80GB");
  EXPECT_EQ(training.gpus, Gpus(2));
  EXPECT_EQ(training.points,
            (std::vector<JobProfile::Point>{{Cores(3), MiB(64'000), 1},
                                            {MilliCpu(4500), Bytes(62'500'000'000), 1.15},
                                            {MilliCpu(1500), GB(1), 0.5}}));
  EXPECT_FALSE(training.cached.has_value());
  EXPECT_EQ(file.entries[0].profile.gpus(), Gpus(2));
  EXPECT_EQ(file.entries[0].profile.Best(), 1.15);
  EXPECT_THAT(file.warnings, IsEmpty());
}

TEST(ProfileFileTest, DefaultIsOneGpuOfAnyProduct) {
  const ProfileFile file =
      ReadProfileFile(WithPoints("  - {cpu: 1, memory: 1Gi, throughput: 1}\n"));
  EXPECT_EQ(file.entries[0].training.gpu_product, "");
  EXPECT_EQ(file.entries[0].training.gpus, Gpus(1));
}

const char kCached[] = R"(
profiles:
- model: alexnet
  points:
  - {cpu: 3, throughput: 10000}
  datasetSize: 100G
  storageBandwidth: 500M
  bytesPerSample: 100k
  memories: [10G, 50G, 90G]
)";

TEST(ProfileFileTest, PointsWithTheDataSetInMemoryAreCompletedByTheCacheModel) {
  const ProfileFile file = ReadProfileFile(kCached);
  const TrainingProfile& training = file.entries[0].training;
  EXPECT_THAT(training.points, IsEmpty());
  EXPECT_EQ(training.cached, (CachedMeasurements{{GB(100), Bytes(500'000'000), Bytes(100'000)},
                                                 {{Cores(3), 10'000}},
                                                 {GB(10), GB(50), GB(90)}}));
  EXPECT_EQ(file.entries[0].profile.Demand(0), (ResourceVector{Gpus(1), Cores(3), GB(50)}));
}

TEST(ProfileFileTest, ReadsWhatSpreadingCosts) {
  const ProfileFile file = ReadProfileFile(std::string(kCached) +
                                           "  spreadSpeed: {nodes: 0.7, racks: 0.5}\n"
                                           "  tensorSkew: 0.61\n");
  const TrainingProfile& training = file.entries[0].training;
  EXPECT_EQ(training.spread, (SpreadCost{0.7, 0.5, 0.61}));
  EXPECT_EQ(file.entries[0].profile.spread(), training.spread);
  const auto refused = ParseProfiles(std::string(kCached) + "  spreadSpeed: {racks: 0.5}\n", "f");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("profiles[0].spreadSpeed.nodes: is missing"));
}

TEST(ProfileFileTest, JsonIsReadToo) {
  const ProfileFile file = ReadProfileFile(
      R"({"profiles": [{"model": "m", "gpus": 1, "points": [{"cpu": 3, "memory": "1Gi", "throughput": 2.5}]}]})");
  EXPECT_EQ(file.entries[0].training.points,
            (std::vector<JobProfile::Point>{{Cores(3), GiB(1), 2.5}}));
}

TEST(ProfileFileTest, PointsThatAreSlowerWithMoreAreAWarning) {
  const ProfileFile file = ReadProfileFile(WithPoints(R"(
  - {cpu: 1, memory: 1Gi, throughput: 2}
  - {cpu: 2, memory: 1Gi, throughput: 1.5}
)"));
  EXPECT_THAT(file.warnings,
              ElementsAre("profiles.yaml:5:3: profiles[0].points: 2 CPU and 1Gi memory: throughput "
                          "1.5 is less than 2 with 1 CPU and 1Gi memory, which is used here too"));
  EXPECT_EQ(file.entries[0].training.points[1].throughput, 1.5);
  EXPECT_EQ(file.entries[0].profile.Cell(1, 0), 2);
}

struct ProfileErrorCase {
  std::string what;
  std::string text;
  std::string message;  // the beginning of the message, without the file's name
};

TEST(ProfileFileTest, ErrorsNameLineColumnAndField) {
  const std::string good = "  - {cpu: 1, memory: 1Gi, throughput: 1}\n";
  const ProfileErrorCase cases[] = {
      {"an empty file", "", "1:1: profiles: is missing"},
      {"a list for the file", "- model: m\n", "1:1: the file: expected fields"},
      {"no profiles", "profiles: []\n", "1:11: profiles: the list is empty"},
      {"nothing for profiles", "profiles:\n", "2:1: profiles: expected a list"},
      {"an unknown field", "profile: []\n", "1:1: profile: unknown field; known fields: profiles"},
      {"an unknown field of a profile", "profiles:\n- model: m\n  gpu: 1\n",
       "3:3: profiles[0].gpu: unknown field; known fields: bytesPerSample, datasetSize, "
       "gpuProduct, gpus, memories, model, points, spreadSpeed, storageBandwidth, tensorSkew"},
      {"an unknown field of a point", WithPoints("  - {cpus: 1}\n"),
       "4:6: profiles[0].points[0].cpus: unknown field; known fields: cpu, memory, "
       "throughput"},
      {"a word for a point", WithPoints("  - many\n"),
       "4:5: profiles[0].points[0]: expected fields"},
      {"no model", "profiles:\n- gpus: 1\n", "2:3: profiles[0].model: is missing"},
      {"an empty model", "profiles:\n- model: \"\"\n",
       "2:10: profiles[0].model: must not be empty"},
      {"no points", "profiles:\n- model: m\n", "2:3: profiles[0].points: is missing"},
      {"an empty list of points", "profiles:\n- model: m\n  points: []\n",
       "3:11: profiles[0].points: the list is empty"},
      {"no GPUs", "profiles:\n- model: m\n  gpus: 0\n",
       "3:9: profiles[0].gpus: \"0\" is not a whole number above zero"},
      {"half a GPU", "profiles:\n- model: m\n  gpus: 0.5\n",
       "3:9: profiles[0].gpus: \"0.5\" is not a whole number above zero"},
      {"too many GPUs", "profiles:\n- model: m\n  gpus: 1048577\n  points:\n" + good,
       "5:3: profiles[0].points: 1048577 GPUs: must be 1 to 1048576"},
      {"no CPU", WithPoints("  - {cpu: 0, memory: 1Gi, throughput: 1}\n"),
       "4:11: profiles[0].points[0].cpu: must be more than zero"},
      {"negative CPU", WithPoints(good + "  - {cpu: -500m, memory: 1Gi, throughput: 1}\n"),
       "5:11: profiles[0].points[1].cpu: must be more than zero"},
      {"CPU that is no quantity", WithPoints("  - {cpu: all, memory: 1Gi, throughput: 1}\n"),
       "4:11: profiles[0].points[0].cpu: \"all\" is not a quantity, as in 3, 4500m, 62.5G or 64Gi"},
      {"negative memory", WithPoints("  - {cpu: 1, memory: -1Gi, throughput: 1}\n"),
       "4:22: profiles[0].points[0].memory: must be more than zero"},
      {"memory in an unknown unit", WithPoints("  - {cpu: 1, memory: 1GB, throughput: 1}\n"),
       "4:22: profiles[0].points[0].memory: \"1GB\" is not a quantity"},
      {"absurd memory", WithPoints("  - {cpu: 1, memory: 9E, throughput: 1}\n"),
       "4:3: profiles[0].points: point 1 (1 CPU and 9E memory): memory must be above 0 and at "
       "most"},
      {"a negative throughput", WithPoints("  - {cpu: 1, memory: 1Gi, throughput: -1}\n"),
       "4:39: profiles[0].points[0].throughput: must not be negative"},
      {"a throughput that is no number",
       WithPoints("  - {cpu: 1, memory: 1Gi, throughput: fast}\n"),
       "4:39: profiles[0].points[0].throughput: \"fast\" is not a number"},
      {"a throughput that is not a number",
       WithPoints("  - {cpu: 1, memory: 1Gi, throughput: nan}\n"),
       "4:39: profiles[0].points[0].throughput: \"nan\" is not a number"},
      {"an infinite throughput", WithPoints("  - {cpu: 1, memory: 1Gi, throughput: inf}\n"),
       "4:39: profiles[0].points[0].throughput: \"inf\" is not a number"},
      {"nothing but zeros", WithPoints("  - {cpu: 1, memory: 1Gi, throughput: 0}\n"),
       "4:3: profiles[0].points: no point has a throughput above 0"},
      {"a point without CPU", WithPoints("  - {memory: 1Gi, throughput: 1}\n"),
       "4:5: profiles[0].points[0].cpu: is missing"},
      {"a point without a throughput", WithPoints("  - {cpu: 1, memory: 1Gi}\n"),
       "4:5: profiles[0].points[0].throughput: is missing"},
      {"a point without memory", WithPoints("  - {cpu: 1, throughput: 1}\n"),
       "4:5: profiles[0].points[0].memory: is missing; set it, or datasetSize"},
      {"the same point twice",
       WithPoints(good + "  - {cpu: 1000m, memory: 1024Mi, throughput: 2}\n"),
       "5:5: profiles[0].points[1]: the same amounts as profiles[0].points[0]"},
      {"a part of the cache", WithPoints("  - {cpu: 1, throughput: 1}\n  datasetSize: 1G\n"),
       "2:3: profiles[0].storageBandwidth: is missing; set datasetSize, storageBandwidth and"},
      {"memories without a cache", WithPoints(good + "  memories: [1Gi]\n"),
       "2:3: profiles[0].datasetSize: is missing"},
      {"an empty list of memories", WithPoints(good + "  memories: []\n"),
       "5:13: profiles[0].memories: the list is empty"},
      {"no data set", WithPoints("  - {cpu: 1, throughput: 1}\n  datasetSize: 0\n"),
       "5:16: profiles[0].datasetSize: must be more than zero"},
      {"the same profile twice", WithPoints(good) + "- model: m\n  gpus: 1\n  points:\n" + good,
       "5:3: profiles[1]: the same model, GPU product and GPU count as profiles[0]"},
      {"text that is no YAML", "profiles: [\n", ""},
  };
  for (const auto& [what, text, message] : cases)
    EXPECT_THAT(ProfileFileError(text), StartsWith("profiles.yaml:" + message)) << what;
}

TEST(ProfileFileTest, APointWithMemoryIsRefusedWhereMemoryIsCalculated) {
  EXPECT_THAT(
      ProfileFileError(WithPoints("  - {cpu: 1, memory: 1Gi, throughput: 1}\n  datasetSize: 1G\n"
                                  "  storageBandwidth: 1G\n  bytesPerSample: 1k\n")),
      StartsWith("profiles.yaml:4:5: profiles[0].points[0].memory: must not be set in points"));
}

TEST(ProfileFileTest, IsReadFromDisk) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("profiles.yaml", kCached);
  EXPECT_THAT(config::LoadProfiles(file)->entries, SizeIs(1));
  const std::string broken = folder.Write("broken.yaml", "profiles: 1\n");
  EXPECT_THAT(config::LoadProfiles(broken).error().message,
              StartsWith(broken + ":1:11: profiles: "));
}

TEST(ProfileFileTest, AMissingFileOrAFolderIsNotFound) {
  const TemporaryFolder folder;
  for (const std::string& file : {folder.Path("missing.yaml"), folder.Path("")}) {
    const auto profiles = config::LoadProfiles(file);
    ASSERT_FALSE(profiles.has_value()) << file;
    EXPECT_EQ(profiles.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(profiles.error().message, HasSubstr(file));
  }
}

}  // namespace
}  // namespace synergy::testing
