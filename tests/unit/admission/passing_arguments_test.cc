#include "admission/passing_arguments.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Without(const std::vector<std::string>& words) {
  return WithoutPassingArguments(words);
}

TEST(PassingArgumentsTest, EveryFormOfAnArgumentGoes) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"python", "train.py", "--lr", "0.1"},
                                             {"python", "train.py", "--lr=0.1"},
                                             {"python", "train.py", "-lr", "-1e-3"},
                                             {"python", "train.py", "lr=0.1"},
                                             {"python", "train.py", "++optimizer.lr=0.1"},
                                             {"python", "train.py", "--optimizer.lr", "0.1"},
                                             {"python", "train.py", "--Learning-Rate=1"},
                                             {"python", "train.py", "--output_dir=/out/3 4"},
                                             {"SEED=3", "python", "train.py"}}) {
    EXPECT_THAT(Without(words), ElementsAre("python", "train.py")) << words.back();
  }
}

TEST(PassingArgumentsTest, ScriptsAreDividedAndStayScripts) {
  const auto of = [](const char* script) { return Without({"sh", "-c", script}); };
  EXPECT_EQ(of("python train.py --seed 1 --run-name 'a b'"), of("python  train.py --seed=2"));
  EXPECT_NE(of("python train.py --batch 32"), of("python train.py --batch 256"));
  EXPECT_NE(of("python train.py"), Without({"sh", "-c", "python", "train.py"}));
}

TEST(PassingArgumentsTest, AllElseCounts) {
  const std::vector<std::string> words = {
      "torchrun",        "--nproc_per_node", "4",    "train.py", "--batch-size=32",
      "--data",          "/data/1",          "seed", "--lrx",    "1",
      "model.name=bert", "--steps",          "100",  "--seeds",  "3"};
  EXPECT_EQ(Without(words), words);
}

TEST(PassingArgumentsTest, AFlagWithoutAValueTakesNoOtherArgumentAlong) {
  EXPECT_THAT(Without({"train", "--seed", "--batch", "32"}), ElementsAre("train", "--batch", "32"));
  EXPECT_THAT(Without({"train", "--seed"}), ElementsAre("train"));
}

TEST(PassingArgumentsTest, OddWordsAreNoArguments) {
  const std::vector<std::string> words = {"", "-", "--", "=", "=lr", "---lr", "\xff", "lr"};
  EXPECT_EQ(Without(words), words);
}

}  // namespace
}  // namespace synergy
