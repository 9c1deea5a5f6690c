#include "cli/simulate/profiles/profile_manifests.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/simulate/model_facts_file.h"
#include "cli/simulate/profiles/profile_limits.h"
#include "support/temporary_folder.h"

namespace synergy::cli::testing {
namespace {

using ::testing::HasSubstr;

const std::string kManifests = R"(apiVersion: synergy.io/v1alpha1
kind: TrainingProfile
metadata: {name: steep, namespace: default}
spec:
  gpus: 1
  gpuProduct: A100
  points:
  - {cpu: 1, memory: 8G, throughput: 1}
  - {cpu: "2", memory: 8G, throughput: 1.5}
  - {cpu: 9, memory: 8G, throughput: 3}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
---
apiVersion: synergy.io/v1alpha1
kind: TrainingProfile
metadata: {name: flat, namespace: team}
spec:
  points: [{cpu: 1, memory: 8G, throughput: 2}]
)";

std::string ErrorOf(const std::string& text) {
  const auto read = ParseProfileManifests(text, "tp.yaml");
  return read ? "no error" : read.error().message;
}

TEST(ProfileManifestsTest, DocumentsAndListsAreRead) {
  const auto documents = ParseProfileManifests(kManifests, "tp.yaml");
  ASSERT_TRUE(documents) << documents.error().message;
  ASSERT_TRUE(*documents);
  ASSERT_EQ((*documents)->size(), 2U);
  const ProfileObject& steep = (*documents)->front();
  EXPECT_EQ(steep.name, "steep");
  EXPECT_EQ(steep.training.gpu_product, "") << "simulated GPUs count as the measured ones";
  EXPECT_EQ(steep.profile->ThroughputAt(Cores(2), GB(8)), 1.5);
  const auto list = ParseProfileManifests(
      R"({"kind":"List","items":[{"apiVersion":"synergy.io/v1alpha1","kind":"TrainingProfile",
      "metadata":{"name":"m","namespace":"d"},
      "spec":{"points":[{"cpu":1,"memory":"8G","throughput":1}]}}]})",
      "tp.json");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ((*list)->front().name, "m");
}

TEST(ProfileManifestsTest, OtherFilesAreNotManifests) {
  for (const char* text : {R"({"_doc": {}, "3": {}})", "profiles: []", "", "a: [b"}) {
    const auto read = ParseProfileManifests(text, "file");
    ASSERT_TRUE(read) << text;
    EXPECT_FALSE(*read) << text;
  }
}

TEST(ProfileManifestsTest, AProfileThatCannotBeUsedIsNamed) {
  EXPECT_THAT(ErrorOf("kind: TrainingProfile\nmetadata: {name: m}\n"
                      "spec: {points: [{cpu: 1, memory: 8G, throughput: -1}]}\n"),
              HasSubstr("tp.yaml: TrainingProfile /m: spec.points"));
  EXPECT_THAT(ErrorOf("kind: ConfigMap\nmetadata: {name: m}\n"),
              HasSubstr("tp.yaml: no TrainingProfile with measurements"));
  EXPECT_THAT(ErrorOf(kManifests + "---\n" + kManifests),
              HasSubstr("TrainingProfile default/steep: an earlier one has the same name"));
}

TEST(ProfileManifestsTest, AreProfilesOfAFile) {
  const synergy::testing::TemporaryFolder folder;
  const std::string file = folder.Write("tp.yaml", kManifests);
  const ResourceVector server{Gpus(8), Cores(4), GB(500)};
  const auto facts = LoadModelFacts(file, server);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_THAT(facts->Models(), ::testing::ElementsAre("flat", "steep"));
  EXPECT_EQ(LeastCpusPerGpu(*facts), 1);
  EXPECT_EQ(ExtrapolatedModels(*facts, {Gpus(1), Cores(10), GB(8)}),
            "no model was measured with more than 9 CPUs per GPU: on servers with 10 each is as "
            "fast as with 9");
  const ModelFacts faster = OnGpusOfSpeed(*facts, 2);
  const JobProfile& steep = *faster.FindObject("steep")->profile;
  EXPECT_EQ(steep.ThroughputAt(Cores(18), GB(8)), 6);
  EXPECT_EQ(steep.ThroughputAt(Cores(2), GB(8)), 2);
}

TEST(ProfileLimitsTest, ServersWithLessThanWasMeasuredAreRejectedAndThoseWithMoreNoted) {
  const ResourceVector server{Gpus(8), Cores(24), GB(500)};
  const auto facts = PaperModelFacts(server);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_TRUE(CheckServer(*facts, {"lstm", "unknown"}, {server}));
  const auto error_of = [](const Result<>& checked) {
    return checked ? "no error" : checked.error().message;
  };
  EXPECT_EQ(error_of(CheckServer(*facts, {"lstm"}, {{Gpus(8), Cores(4), GB(500)}, "--recorded"})),
            "--recorded: 0.5 CPUs per GPU are fewer than the 1 with which lstm was measured: give "
            "servers more, or measure it with 0.5 and name the file in --profiles");
  EXPECT_THAT(error_of(CheckServer(*facts, {"lstm"}, {{Gpus(8), Cores(24), GB(80)}})),
              HasSubstr("--memory: 10 GB per GPU are fewer than the 20.83"));
  EXPECT_EQ(error_of(CheckServer(*facts, {"lstm"}, {server, {}, 4})),
            "--gpu-speed 4: lstm was measured with 1 CPUs per GPU or more, which are 4 at this "
            "speed, and servers have 3: give servers 4 CPUs per GPU, or set a speed of at most 3");
  EXPECT_TRUE(CheckServer(*facts, {"lstm"}, {server, {}, 3}));
  EXPECT_EQ(ExtrapolatedMemory(*facts, {Gpus(8), Cores(24), GB(2000)}), "");
  EXPECT_THAT(ExtrapolatedMemory(*facts, {Gpus(8), Cores(24), GB(4000)}),
              HasSubstr("more than 250 GB per GPU: on servers with 500"));
}

}  // namespace
}  // namespace synergy::cli::testing
