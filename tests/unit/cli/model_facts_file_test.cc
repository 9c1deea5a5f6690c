#include "cli/simulate/model_facts_file.h"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/simulate/profiles/profile_limits.h"
#include "core/random.h"
#include "support/temporary_folder.h"

namespace synergy::testing {
namespace {

using cli::ExtrapolatedModels;
using cli::LoadModelFacts;
using cli::PaperModelFacts;
using cli::ParseModelFacts;
using ::testing::ElementsAre;
using ::testing::EndsWith;

const ResourceVector kServer{Gpus(8), Cores(24), GB(500)};

const std::string kDoc =
    R"("_doc": {"rows_cpu_per_gpu": [1, 3], "cols_mem_gb_per_gpu": [20.83, 62.5, 125]})";
const std::string kModel =
    R"({"demand_cpu": 3, "demand_mem_gb": 62.5, "iter_time_s": 0.6, "speedup": 1.15, "batch": 8,
        "tput": [[0.1, 0.2, 0.3], [0.4, 1, 1]]})";

std::string WithModel(const std::string& model) {
  return "{" + kDoc + R"(, "3": {"m5": {"1": )" + model + "}}}";
}

std::string ErrorOf(const std::string& text, const ResourceVector& server = kServer) {
  const auto facts = ParseModelFacts(text, "facts.json", server);
  return facts ? "no error" : facts.error().message;
}

TEST(ModelFactsFileTest, EveryFieldIsRead) {
  const auto facts = ParseModelFacts(WithModel(kModel), "facts.json", kServer);
  ASSERT_TRUE(facts) << facts.error().message;
  const ModelFact* const fact = facts->Find("m5", Gpus(1));
  ASSERT_NE(fact, nullptr);
  EXPECT_EQ(fact->cpu, Cores(3));
  EXPECT_EQ(fact->memory, Bytes(62'500'000'000));
  EXPECT_EQ(fact->iteration_time, Seconds(0.6));
  EXPECT_EQ(fact->speedup, 1.15);
  EXPECT_THAT(fact->cpus, ElementsAre(Cores(1), Cores(3)));
  EXPECT_THAT(fact->memories, ElementsAre(Bytes(20'830'000'000), Bytes(62'500'000'000), GB(125)));
  EXPECT_THAT(fact->throughput, ElementsAre(0.1, 0.2, 0.3, 0.4, 1, 1));
  EXPECT_EQ(facts->Find("m5", Gpus(2)), nullptr);
  EXPECT_EQ(facts->Find("m6", Gpus(1)), nullptr);
}

TEST(ModelFactsFileTest, AShorterMatrixLacksTheSmallestMemories) {
  const auto facts = ParseModelFacts(
      WithModel(R"({"demand_cpu": 3, "demand_mem_gb": 62.5, "iter_time_s": 1, "speedup": 1,
                    "tput": [[0.2, 0.3], [1, 1]]})"),
      "facts.json", kServer);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_THAT(facts->Find("m5", Gpus(1))->memories, ElementsAre(Bytes(62'500'000'000), GB(125)));
}

TEST(ModelFactsFileTest, TheServersShapeChoosesTheFacts) {
  const std::string text =
      "{" + kDoc + R"(, "3": {"a": {"1": )" + kModel + R"(}}, "4": {"b": {"1": )" + kModel + "}}}";
  const auto facts = ParseModelFacts(text, "facts.json", {Gpus(8), Cores(32), GB(500)});
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_NE(facts->Find("b", Gpus(1)), nullptr);
  EXPECT_EQ(facts->Find("a", Gpus(1)), nullptr);
}

TEST(ModelFactsFileTest, ServersOfAnotherShapeHaveWhatFollowsFromTheMatrix) {
  const auto facts =
      ParseModelFacts(WithModel(kModel), "facts.json", {Gpus(8), Cores(16), GB(500)});
  ASSERT_TRUE(facts) << facts.error().message;
  const ModelFact* const fact = facts->Find("m5", Gpus(1));
  ASSERT_NE(fact, nullptr);
  // With 2 CPUs and 62.5 GB the throughput is halfway between 0.2 and 1.
  EXPECT_NEAR(fact->iteration_time.count(), 0.6 / 0.6, 1e-9);
  EXPECT_NEAR(fact->speedup, 1 / 0.6, 1e-9);
  EXPECT_EQ(fact->cpu, Cores(3));
  EXPECT_EQ(ExtrapolatedModels(*facts, {Gpus(8), Cores(16), GB(500)}), "");
}

TEST(ModelFactsFileTest, ModelsAreFlatAndMarkedAboveTheLastMeasuredPoint) {
  const ResourceVector large{Gpus(8), Cores(190), GB(500)};
  const auto facts = ParseModelFacts(WithModel(kModel), "facts.json", large);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->Find("m5", Gpus(1))->iteration_time, Seconds(0.6));
  EXPECT_EQ(ExtrapolatedModels(*facts, large),
            "no model was measured with more than 3 CPUs per GPU: on servers with 23.75 each is "
            "as fast as with 3");
}

TEST(ModelFactsFileTest, ErrorBelowTheFirstMeasuredPointNamesWhatToMeasure) {
  EXPECT_THAT(ErrorOf(WithModel(kModel), {Gpus(8), Cores(4), GB(500)}),
              EndsWith("servers with 0.5 CPUs per GPU have fewer than the 1 of the first row: "
                       "measure the models with 0.5 CPUs per GPU, and add that to "
                       "rows_cpu_per_gpu and to each tput"));
}

TEST(ModelFactsFileTest, ThePapersModelsAreBuiltIn) {
  const auto built_in = PaperModelFacts(kServer);
  const auto file = LoadModelFacts(SYNERGY_TEST_DATA "/synergy/reference/profiles.json", kServer);
  ASSERT_TRUE(built_in && file);
  for (const auto& [key, fact] : file->all()) {
    if (key.second > Gpus(1)) continue;
    const ModelFact* const same = built_in->Find(key.first, key.second);
    ASSERT_NE(same, nullptr) << key.first;
    EXPECT_EQ(same->cpu, fact.cpu);
    EXPECT_EQ(same->memory, fact.memory);
    EXPECT_EQ(same->iteration_time, fact.iteration_time);
    EXPECT_EQ(same->speedup, fact.speedup);
    EXPECT_EQ(same->cpus, fact.cpus);
    EXPECT_EQ(same->memories, fact.memories);
    EXPECT_EQ(same->throughput, fact.throughput);
  }
}

TEST(ModelFactsFileTest, OnFasterGpusTheSamePartOfTheBestSpeedTakesMoreCpu) {
  const std::set<std::string> kSuperlinear = {"alexnet", "deepspeech", "m5", "shufflenet"};
  const auto facts = PaperModelFacts(kServer);
  ASSERT_TRUE(facts);
  for (const double speed : {0.25, 0.5, 2.0, 3.0}) {
    for (const auto& [key, fact] : facts->all()) {
      const auto before = ProfileOf(fact);
      const auto after = ProfileOf(OnGpusOfSpeed(fact, speed));
      ASSERT_TRUE(before && after) << key.first << " " << speed;
      for (const int64_t cpu : {500, 1000, 3000, 7500, 24000}) {
        const double slow = before->ThroughputAt(MilliCpu(cpu), GB(250));
        const double fast = after->ThroughputAt(
            MilliCpu(static_cast<int64_t>(static_cast<double>(cpu) * speed)), GB(250));
        // Some models are faster per CPU with more CPUs; they would be slower on faster GPUs.
        const double worse = speed < 1 ? speed * slow - fast : fast - speed * slow;
        EXPECT_GE(worse, -1e-9 * speed) << key.first << " " << speed << " " << cpu;
        if (!kSuperlinear.contains(key.first)) {
          EXPECT_NEAR(worse, 0, 1e-9 * speed) << key.first << " " << speed << " " << cpu;
        }
      }
    }
  }
}

// Expects that a model is never slower on faster GPUs with the same CPU and memory.
void ExpectMonotoneInSpeed(const ModelFact& fact, const std::string& name) {
  const auto measured = ProfileOf(fact);
  ASSERT_TRUE(measured) << name;
  std::vector<JobProfile> by_speed;
  const std::vector<double> speeds = {0.3, 0.7, 1, 1.25, 1.6, 2, 3, 4.5};
  for (const double speed : speeds) by_speed.push_back(*ProfileOf(OnGpusOfSpeed(fact, speed)));
  for (int64_t cpu = 250; cpu <= 30000; cpu += 250) {
    for (const Bytes memory : fact.memories) {
      const double before = measured->ThroughputAt(MilliCpu(cpu), memory);
      for (size_t at = 0; at < speeds.size(); ++at) {
        const double now = by_speed[at].ThroughputAt(MilliCpu(cpu), memory);
        const double more = speeds[at] < 1 ? before - now : now - before;
        ASSERT_GE(more, -1e-6) << name << " " << speeds[at] << " " << cpu;
        if (at == 0) continue;
        const double slower = by_speed[at - 1].ThroughputAt(MilliCpu(cpu), memory);
        // Amounts of CPU are whole thousandths.
        ASSERT_GE(now, slower - 0.01 * measured->Best()) << name << " " << speeds[at] << " " << cpu;
      }
    }
  }
}

TEST(ModelFactsFileTest, NoModelIsSlowerOnFasterGpus) {
  const auto facts = PaperModelFacts(kServer);
  ASSERT_TRUE(facts);
  for (const auto& [key, fact] : facts->all()) ExpectMonotoneInSpeed(fact, key.first);
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    Random random(seed);
    ModelFact fact;
    for (int64_t cpu = 1; cpu < 24; cpu += 1 + static_cast<int64_t>(random.Below(6)))
      fact.cpus.push_back(Cores(cpu));
    fact.memories = {GB(20), GB(60), GB(125)};
    for (size_t cell = 0; cell < 3 * fact.cpus.size(); ++cell)
      fact.throughput.push_back(0.1 + static_cast<double>(random.Below(1000)) / 300);
    fact.cpu = fact.cpus.back();
    ExpectMonotoneInSpeed(fact, "seed " + std::to_string(seed));
  }
}

TEST(ModelFactsFileTest, ErrorsNameTheField) {
  EXPECT_EQ(ErrorOf("{" + kDoc + R"(, "3": {"m5": {"1": {"demand_cpu": 3}}}})"),
            "facts.json:1:101: m5.1: the field demand_mem_gb is missing: add it");
  EXPECT_EQ(ErrorOf("{" + kDoc + R"(, "3": {"m5": {"x": {}}}})"),
            "facts.json:1:96: m5: \"x\" is not a GPU count: write a whole number, 1 or more");
  EXPECT_EQ(ErrorOf(R"({"3": {}})"), "facts.json:1:1: the file: the field _doc is missing: add it");
  EXPECT_EQ(ErrorOf(WithModel(R"({"demand_cpu": 0, "demand_mem_gb": 1})")),
            "facts.json:1:116: m5.1.demand_cpu: write a number, 0.001 to 1e9");
  EXPECT_EQ(ErrorOf(WithModel(R"({"demand_cpu": 3, "demand_mem_gb": 62.5, "iter_time_s": 1,
                                  "speedup": 1, "tput": [[1]]})")),
            "facts.json:2:57: m5.1.tput: write a list of 2 rows, one for each of "
            "_doc.rows_cpu_per_gpu");
  EXPECT_EQ(ErrorOf(WithModel(R"({"demand_cpu": 3, "demand_mem_gb": 62.5, "iter_time_s": 1,
                                  "speedup": 1, "tput": [[1, 2], [1]]})")),
            "facts.json:2:66: m5.1.tput: write rows of one length, at most the 3 of "
            "_doc.cols_mem_gb_per_gpu");
  EXPECT_EQ(ErrorOf(R"({"_doc": {"rows_cpu_per_gpu": [3, 1]}, "3": {}})"),
            "facts.json:1:35: _doc.rows_cpu_per_gpu: write the amounts in ascending order");
}

TEST(ModelFactsFileTest, MalformedTextIsAnError) {
  for (const std::string text : {"", "[]", "x", "{", R"({"3": 1})", R"({"3": {"a": 1}})"})
    EXPECT_NE(ErrorOf(text), "no error") << text;
}

TEST(ModelFactsFileTest, AFileIsReadAndItsAbsenceNamed) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("facts.json", WithModel(kModel));
  EXPECT_TRUE(LoadModelFacts(file, kServer));
  const auto missing = LoadModelFacts(folder.Path("other.json"), kServer);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, EndsWith("/other.json: cannot be read"));
  EXPECT_FALSE(LoadModelFacts(folder.Path(""), kServer));
}

}  // namespace
}  // namespace synergy::testing
