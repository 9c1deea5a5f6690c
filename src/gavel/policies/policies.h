#pragma once

// Gavel's policies: the part of its time that each job spends on each GPU type (problem.h); and
// their two tables of names, the authors' and the product's.
//
// An authors' name is the objective, then the view of the GPU types: "_perf" for each job's
// throughput on each type, "_packed" for the throughput of pairs as well, no suffix if all types
// are alike.
//
// Threading: a policy has one caller at a time, because some keep state between calls; the rest
// from any thread.
// Failures: kInvalid names the field of the problem that the policy requires or does not support;
// kUnavailable if the solver gave up.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "gavel/problem.h"

namespace synergy {

class GavelPolicy {
 public:
  virtual ~GavelPolicy() = default;

  // REQUIRES: `problem` has at least one job, and GPUs.
  virtual Result<GavelAnswer> Allocate(const GavelProblem& problem) = 0;
};

std::vector<std::string_view> GavelPolicyNames();

// kInvalid lists all names.
Result<std::unique_ptr<GavelPolicy>> MakeGavelPolicy(std::string_view name);

inline constexpr std::string_view kTypePolicyPrefix = "gavel-";
inline constexpr std::string_view kAgnosticEnd = "-agnostic";

// Gavel's policies under their names in RoundPolicies and in the product's simulator: gavel-las and
// so on, each also with the suffix -agnostic, for which all GPU types are alike.
struct TypePolicy {
  std::string_view program;  // its name for MakeGavelPolicy()
  // The program if some jobs have deadlines; empty: the same one.
  std::string_view with_deadlines;
  bool aware = true;
  bool by_cost = false;
  // The policy gives jobs all of their time on one type, so there are no shares to track: it is
  // asked again whenever jobs arrive or end.
  bool whole_types = false;
  bool fifo = false;
};

struct TypePolicyName {
  std::string_view name;
  std::string_view meaning;  // one line, for users
  TypePolicy agnostic;
  TypePolicy with_speeds;
};

// Returns the table of all policies of GPU types. A new policy is a row here and one or two
// of the authors' names.
std::span<const TypePolicyName> TypePolicyNames();

bool IsTypePolicy(std::string_view name);

// Returns the name of the policy with that order: "gavel-las", "gavel-las-agnostic".
std::string TypePolicyOf(std::string_view order, bool aware);

// kInvalid lists the names.
Result<TypePolicy> ParseTypePolicy(std::string_view name);

}  // namespace synergy
