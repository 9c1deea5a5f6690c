#include "solver/program.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Returns a program with two variables from 0 to 10, the second an integer, whose sum is from 1 to
// 12.
Program Two() {
  return {
      .sense = Sense::kMaximize,
      .variables = {{.upper = 10, .objective = 2}, {.upper = 10, .objective = 3, .integer = true}},
      .rows = {{.lower = 1, .upper = 12, .terms = {{0, 1}, {1, 1}}}}};
}

TEST(ProgramTest, AcceptsValidPrograms) {
  EXPECT_TRUE(Validate(Two()).has_value());
  EXPECT_TRUE(Validate({}).has_value());
}

struct ErrorCase {
  std::string what;
  void (*spoil)(Program&);
  std::string message;
};

TEST(ProgramTest, ErrorsNameTheInvalidPart) {
  const ErrorCase cases[] = {
      {"a bound that is no number", [](Program& p) { p.variables[1].upper = kNan; },
       "variable 1: a bound is not a number"},
      {"crossed bounds", [](Program& p) { p.variables[0].lower = 11; },
       "variable 0: bounds 11 to 10 leave nothing"},
      {"a lower bound at infinity",
       [](Program& p) {
         p.variables[0].lower = kUnbounded;
         p.variables[0].upper = kUnbounded;
       },
       "variable 0: a bound is the wrong infinity"},
      {"an infinite objective", [](Program& p) { p.variables[0].objective = kUnbounded; },
       "variable 0: the objective is not finite"},
      {"crossed bounds of a row", [](Program& p) { p.rows[0].lower = 13; },
       "row 0: bounds 13 to 12 leave nothing"},
      {"an infinite coefficient", [](Program& p) { p.rows[0].terms[1].coefficient = kUnbounded; },
       "row 0: the coefficient of variable 1 is not finite"},
      {"an unknown variable", [](Program& p) { p.rows[0].terms[1].variable = 2; },
       "row 0: variable 2 does not exist"},
      {"a variable twice", [](Program& p) { p.rows[0].terms[1].variable = 0; },
       "row 0: variable 0 comes twice"},
  };
  for (const auto& [what, spoil, message] : cases) {
    Program program = Two();
    spoil(program);
    const Result<> valid = Validate(program);
    ASSERT_FALSE(valid.has_value()) << what;
    EXPECT_EQ(valid.error().code, ErrorCode::kInvalid) << what;
    EXPECT_EQ(valid.error().message, message) << what;
  }
}

TEST(ProgramTest, AVariableMayComeInSeveralRows) {
  Program program = Two();
  program.rows.push_back(program.rows[0]);
  EXPECT_TRUE(Validate(program).has_value());
}

TEST(ProgramTest, TheObjectiveIsTheWeightedSum) {
  EXPECT_EQ(Objective(Two(), std::vector<double>{1.5, 2}), 9);
}

TEST(ProgramTest, NamesTheViolatedConstraint) {
  const auto violation = [](double x, double y) {
    return Violation(Two(), std::vector<double>{x, y});
  };
  EXPECT_EQ(violation(2, 10), "");
  EXPECT_EQ(violation(2.0000001, 10), "");
  EXPECT_EQ(violation(11, 0), "variable 0 is 11");
  EXPECT_EQ(violation(-1, 3), "variable 0 is -1");
  EXPECT_EQ(violation(1, 0.5), "variable 1 is 0.5, no integer");
  EXPECT_EQ(violation(0.5, 0), "row 0 is 0.5, not 1 to 12");
  EXPECT_EQ(violation(3, 10), "row 0 is 13, not 1 to 12");
}

}  // namespace
}  // namespace synergy::testing
