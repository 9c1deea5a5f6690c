#include "gavel/type_policies.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gavel/policies/policies.h"

namespace synergy::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(TypePolicies, EachHasAProgramInBothForms) {
  for (const TypePolicyName& policy : TypePolicyNames()) {
    const std::string name(policy.name);
    EXPECT_TRUE(IsTypePolicy(name));
    const TypePolicy aware = ParseTypePolicy(name).value();
    const TypePolicy agnostic = ParseTypePolicy(name + "-agnostic").value();
    EXPECT_TRUE(aware.aware);
    EXPECT_FALSE(agnostic.aware);
    EXPECT_EQ(std::string(agnostic.program) + "_perf", aware.program);
    EXPECT_TRUE(MakeGavelPolicy(aware.program).has_value()) << name;
    EXPECT_TRUE(MakeGavelPolicy(agnostic.program).has_value()) << name;
  }
}

TEST(TypePolicies, AnUnknownOneIsAnsweredWithTheNames) {
  EXPECT_FALSE(IsTypePolicy("las"));
  for (const char* name : {"las", "gavel-luck", "-agnostic", "gavel-las-packed"}) {
    EXPECT_THAT(ParseTypePolicy(name).error().message,
                AllOf(HasSubstr(name), HasSubstr("gavel-las, "), HasSubstr("-agnostic")));
  }
}

}  // namespace
}  // namespace synergy::testing
