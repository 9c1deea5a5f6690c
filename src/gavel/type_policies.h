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

struct TypePolicyName {
  std::string_view name;
  std::string_view meaning;  // one line, for people
};

// Without the agnostic forms.
std::span<const TypePolicyName> TypePolicyNames();

bool IsTypePolicy(std::string_view name);

struct TypePolicy {
  std::string_view program;  // as gavel/policies/policies.h names it
  // The same where some jobs have deadlines; empty: it knows of none.
  std::string_view with_deadlines;
  bool aware = true;
  bool by_cost = false;
  // Gives jobs all of their time on one type, so that there is nothing to keep to: asked whenever
  // jobs come or go.
  bool whole_types = false;
  bool fifo = false;
};

// kInvalid with the names.
Result<TypePolicy> ParseTypePolicy(std::string_view name);

}  // namespace synergy
