#include "cli/commands/output.h"

#include <algorithm>
#include <stop_token>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::cli::testing {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A clock whose sleepers wake at once. It records how long they asked to sleep.
class SkippingClock final : public Clock {
 public:
  Instant Now() const override { return now_; }
  WallTime WallNow() const override { return {}; }
  bool SleepUntil(Instant deadline, std::stop_token stop) const override {
    sleeps_.push_back(std::chrono::duration_cast<seconds>(deadline - now_));
    now_ = deadline;
    return !stop.stop_requested();
  }

  const std::vector<seconds>& sleeps() const { return sleeps_; }

 private:
  mutable Instant now_;
  mutable std::vector<seconds> sleeps_;
};

Shown RowOf(const std::string& cell) {
  return {.columns = {"POD"}, .objects = {{.cells = {cell}, .tree = Tree(cell)}}};
}

class ShowTest : public ::testing::Test {
 protected:
  // Shows the results of `reads` one after the other, and stops after the last.
  Result<> ShowAll(const OutputArguments& output, const std::vector<Result<Shown>>& reads) {
    std::stop_source stop;
    const ReadShown read = [&] {
      if (++reads_ == reads.size()) stop.request_stop();
      return reads.at(reads_ - 1);
    };
    const Sinks sinks{.out =
                          [&](std::string_view text) {
                            if (!text.empty()) printed_.emplace_back(text);
                            return !closed_;
                          },
                      .note = [&](std::string_view text) { notes_.emplace_back(text); }};
    return ShowUntil(output, read, sinks, clock_, stop.get_token());
  }

  SkippingClock clock_;
  size_t reads_ = 0;
  bool closed_ = false;  // whether standard output is closed
  std::vector<std::string> printed_;
  std::vector<std::string> notes_;
};

TEST_F(ShowTest, ReadsOnceWithoutWatch) {
  EXPECT_TRUE(ShowAll({}, {RowOf("a"), RowOf("b")}));
  EXPECT_THAT(printed_, ElementsAre("POD\na\n"));
  EXPECT_TRUE(clock_.sleeps().empty());
}

TEST_F(ShowTest, WatchPrintsChangesAtABoundedRate) {
  EXPECT_TRUE(ShowAll({.watch = true}, {RowOf("a"), RowOf("a"), RowOf("b")}));
  EXPECT_THAT(printed_, ElementsAre("POD\na\n", "b\n"));
  EXPECT_THAT(clock_.sleeps(), ElementsAre(seconds(2), seconds(2), seconds(2)));
}

TEST_F(ShowTest, AClusterThatIsAwayIsWaitedForMoreAndMoreRarely) {
  const auto away = Fail(ErrorCode::kUnavailable, "away");
  EXPECT_TRUE(ShowAll({.watch = true}, {RowOf("a"), away, away, away, away, away, RowOf("b")}));
  EXPECT_THAT(printed_, ElementsAre("POD\na\n", "b\n"));
  EXPECT_THAT(notes_, ElementsAre("Note: away"));
  EXPECT_THAT(clock_.sleeps(), ElementsAre(seconds(2), seconds(4), seconds(8), seconds(16),
                                           seconds(32), seconds(32), seconds(2)));
}

TEST_F(ShowTest, OtherErrorsEndAWatch) {
  const Result<> gone =
      ShowAll({.watch = true}, {RowOf("a"), Fail(ErrorCode::kNotFound, "gone"), RowOf("b")});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message, "gone");
  EXPECT_EQ(reads_, 2u);
}

TEST_F(ShowTest, AFirstReadThatFailsIsAnError) {
  EXPECT_FALSE(ShowAll({.watch = true}, {Fail(ErrorCode::kUnavailable, "away"), RowOf("a")}));
  EXPECT_EQ(reads_, 1u);
}

TEST_F(ShowTest, AWatchEndsWhenNothingMoreCanBePrinted) {
  closed_ = true;
  EXPECT_TRUE(ShowAll({.watch = true}, {RowOf("a"), RowOf("b"), RowOf("c")}));
  EXPECT_EQ(reads_, 1u);
}

TEST_F(ShowTest, NotesAppearOnceAndAreSafeForATerminal) {
  Shown shown = RowOf("\x1b[31m");
  shown.notes = {"no \x1b events", ""};
  EXPECT_TRUE(ShowAll({.watch = true}, {shown, shown}));
  EXPECT_THAT(notes_, ElementsAre("Note: no \\u001b events"));
  EXPECT_THAT(printed_, ElementsAre("POD\n\\u001b[31m\n"));
}

TEST_F(ShowTest, AnEmptyListIsNotedOutsideOfTrees) {
  const Shown none{.columns = {"POD"}, .nothing = "no pods"};
  EXPECT_TRUE(ShowAll({.format = "json"}, {none}));
  EXPECT_TRUE(notes_.empty());
  reads_ = 0;
  EXPECT_TRUE(ShowAll({}, {none}));
  EXPECT_THAT(notes_, ElementsAre("no pods"));
}

TEST(FormatsTest, ImpossibleOnesAreRefusedWithThePossible) {
  EXPECT_EQ(FormatsText(ShownAs::kList), "table, wide, json, yaml or name");
  EXPECT_TRUE(CheckFormat({.format = "name"}, ShownAs::kObject));
  const auto wide = CheckFormat({.format = "wide"}, ShownAs::kObject);
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(wide.error().message,
            "--output wide: not possible here: use table, json, yaml or name");
  EXPECT_FALSE(CheckFormat({.format = "name"}, ShownAs::kUnnamedList));

  CLI::App app;
  OutputArguments output;
  AddOutput(app, output, ShownAs::kText);
  try {
    app.parse("-o name");
    ADD_FAILURE() << "name is no format of texts";
  } catch (const CLI::ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr("name not in {table,json,yaml}"));
  }
}

}  // namespace
}  // namespace synergy::cli::testing
