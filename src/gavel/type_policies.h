#pragma once

// The product's names of Gavel's policies, with the authors' programs that they represent. Apart
// because it needs no solver, unlike the policies (policies/policies.h).
//
// Threading: any thread.

#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace synergy {

inline constexpr std::string_view kTypePolicyPrefix = "gavel-";
inline constexpr std::string_view kAgnosticEnd = "-agnostic";

// Gavel's policies under their names in RoundPolicies and in the product's simulator: gavel-las and
// so on. Each also exists with the suffix -agnostic, which treats all GPU types as alike.
struct TypePolicy {
  std::string_view program;  // its name for MakeGavelPolicy() (policies/policies.h)
  // The program to use if some jobs have deadlines; empty: the same one.
  std::string_view with_deadlines;
  bool aware = true;
  bool by_cost = false;
  // Whether the policy gives jobs all their time on one type. Then there are no shares to track,
  // and the policy is asked again whenever jobs arrive or end.
  bool whole_types = false;
  bool fifo = false;
};

struct TypePolicyName {
  std::string_view name;
  std::string_view meaning;  // one line, for users
  TypePolicy agnostic;
  TypePolicy with_speeds;
};

// Returns the table of all policies of GPU types. A new policy takes a row here and one or two of
// the authors' names.
std::span<const TypePolicyName> TypePolicyNames();

bool IsTypePolicy(std::string_view name);

// Returns the name of the policy with that order: "gavel-las", "gavel-las-agnostic".
std::string TypePolicyOf(std::string_view order, bool aware);

// Returns kInvalid, which lists the names, for an unknown name.
Result<TypePolicy> ParseTypePolicy(std::string_view name);

}  // namespace synergy
