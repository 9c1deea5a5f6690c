#pragma once

// Gavel's policies as RoundPolicies and the product's simulator name them: gavel-las and so on,
// each also with -agnostic behind it, for which all GPU types are as one.
//
// Threading: values.

#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace synergy {

inline constexpr std::string_view kTypePolicyPrefix = "gavel-";
inline constexpr std::string_view kAgnosticEnd = "-agnostic";

struct TypePolicy {
  std::string_view program;  // as gavel/policies/policies.h names it
  // The program for jobs of which some have deadlines; empty: the same.
  std::string_view with_deadlines;
  bool aware = true;
  bool by_cost = false;
  // Gives jobs all of their time on one type, so there are no shares to keep to: it is asked again
  // whenever jobs come or go.
  bool whole_types = false;
  bool fifo = false;
};

struct TypePolicyName {
  std::string_view name;
  std::string_view meaning;  // one line, for users
  TypePolicy agnostic;
  TypePolicy with_speeds;
};

// Returns the table of all policies of GPU types. A new policy is a row here and a program in
// gavel/policies/.
std::span<const TypePolicyName> TypePolicyNames();

bool IsTypePolicy(std::string_view name);

// Returns the name of the policy with that order: "gavel-las", "gavel-las-agnostic".
std::string TypePolicyOf(std::string_view order, bool aware);

// kInvalid with the names.
Result<TypePolicy> ParseTypePolicy(std::string_view name);

}  // namespace synergy
