#include "cli/commands/failure_command.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::cli {
namespace {

using ::testing::HasSubstr;

class FailureCommandTest : public ::testing::Test {
 protected:
  FailureCommandTest() : file_(::testing::TempDir() + "failure_command_test.log") {
    Write("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n");
  }
  ~FailureCommandTest() override { std::filesystem::remove(file_); }

  void Write(std::string_view text) { std::ofstream(file_, std::ios::binary) << text; }

  // Returns the error message for these arguments.
  std::string MistakeOf(FailureArguments arguments) {
    arguments.files = {file_};
    const Result<std::optional<JobFailure>> failure = ReadFailure(arguments);
    EXPECT_FALSE(failure);
    if (failure) return {};
    EXPECT_EQ(failure.error().code, ErrorCode::kInvalid);
    return failure.error().message;
  }

  const std::string file_;
};

TEST_F(FailureCommandTest, PrintsReason) {
  const Result<std::optional<JobFailure>> failure = ReadFailure({.files = {file_}, .exit_code = 1});
  ASSERT_TRUE(failure);
  const Shown shown = ShowFailure(*failure);
  EXPECT_EQ(ToYaml(shown.objects.at(0).tree),
            R"(category: gpu-oom
cause: user
behaviour: deterministic
advice: fix
rule: cuda-out-of-memory
evidence: "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"
)");
  EXPECT_THAT(ToText(shown), HasSubstr("advice     fix\n"));
}

TEST_F(FailureCommandTest, SuccessHasNoCategory) {
  const Result<std::optional<JobFailure>> failure = ReadFailure({.files = {file_}, .exit_code = 0});
  ASSERT_TRUE(failure);
  const Shown shown = ShowFailure(*failure);
  EXPECT_EQ(ToYaml(shown.objects.at(0).tree),
            "category: null\ncause: null\nbehaviour: null\nadvice: null\nrule: null\n"
            "evidence: null\n");
  EXPECT_EQ(ToText(shown), "no failure\n");
}

TEST_F(FailureCommandTest, UnexplainedFailureIsUnknown) {
  Write("hello\n");
  const Result<std::optional<JobFailure>> failure = ReadFailure({.files = {file_}, .exit_code = 1});
  ASSERT_TRUE(failure);
  EXPECT_EQ(ToYaml(ShowFailure(*failure).objects.at(0).tree),
            "category: unknown\ncause: unknown\nbehaviour: unknown\nadvice: retry\nrule: null\n"
            "evidence: null\n");
}

TEST_F(FailureCommandTest, ASignalsNumberIsAnExitCode) {
  Write("hello\n");
  const Result<std::optional<JobFailure>> failure =
      ReadFailure({.files = {file_}, .exit_code = -11});
  ASSERT_TRUE(failure && *failure);
  EXPECT_EQ((*failure)->category, Category::kSegfault);
}

TEST_F(FailureCommandTest, CountsIterationsOfTheLogUnlessTheyAreGiven) {
  Write("step=10, loss=2.3\nstep=20, loss=2.2\nKeyError: 'a'\n");
  const auto behaviour = [&](std::optional<int64_t> iterations) {
    const Result<std::optional<JobFailure>> failure =
        ReadFailure({.files = {file_}, .exit_code = 1, .iterations = iterations});
    EXPECT_TRUE(failure && *failure);
    return failure && *failure ? (*failure)->outcome.behaviour : Behaviour::kTransient;
  };
  EXPECT_EQ(behaviour(std::nullopt), Behaviour::kUnknown);
  EXPECT_EQ(behaviour(0), Behaviour::kDeterministic);
}

TEST_F(FailureCommandTest, NamesTheCureOfAMistake) {
  EXPECT_THAT(MistakeOf({.xids = {"x"}}), HasSubstr("such as 79 or 79@30"));
  EXPECT_THAT(MistakeOf({.xids = {"79@soon"}}), HasSubstr("--xid 79@soon: after @ write"));
  EXPECT_THAT(MistakeOf({.acts = {"dance"}}), HasSubstr("use one of freeze, thaw"));
  EXPECT_THAT(MistakeOf({.acts = {"freeze@-1"}}), HasSubstr("such as freeze@30"));
  EXPECT_THAT(MistakeOf({.conditions = {"Evicted"}}), HasSubstr("TYPE/REASON"));
  const Result<std::optional<JobFailure>> missing = ReadFailure({.files = {file_ + ".none"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace synergy::cli
