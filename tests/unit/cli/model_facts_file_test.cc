#include "cli/simulate/model_facts_file.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::testing {
namespace {

using cli::LoadModelFacts;
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
  EXPECT_EQ(ErrorOf(text, {Gpus(8), Cores(28), GB(500)}),
            "facts.json:1:1: no data for servers with 3.5 CPUs per GPU: measure them, or use "
            "servers with one of 3, 4");
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
