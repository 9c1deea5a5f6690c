#pragma once

// Gavel's policies: which part of its time each job spends on each GPU type (problem.h); and their
// two tables of names, the authors' and the product's.
//
// The authors' names say what a policy makes best, then what it knows of the GPU types: "_perf"
// each job's throughput on each, "_packed" that of pairs of jobs too, neither: all types as one.
//
// Threading: a policy has one caller at a time, because some remember what they were asked before;
// the rest from any thread.
// Failures: kInvalid names the field of the problem that the policy cannot do with or without;
// kUnavailable when the solver gave up.

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

  // `problem`: at least one job, and GPUs.
  virtual Result<GavelAnswer> Allocate(const GavelProblem& problem) = 0;
};

std::vector<std::string_view> GavelPolicyNames();

// kInvalid with all names for one that is not known.
Result<std::unique_ptr<GavelPolicy>> MakeGavelPolicy(std::string_view name);

inline constexpr std::string_view kTypePolicyPrefix = "gavel-";
inline constexpr std::string_view kAgnosticEnd = "-agnostic";

// Policies as RoundPolicies and the product's simulator name them: gavel-las and so on, each also
// with -agnostic behind it, for which all GPU types are as one.
struct TypePolicy {
  std::string_view program;  // as MakeGavelPolicy() names it
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

// Returns the table of all policies of GPU types. A new policy is a row here and one or two
// of the authors' names.
std::span<const TypePolicyName> TypePolicyNames();

bool IsTypePolicy(std::string_view name);

// Returns the name of the policy with that order: "gavel-las", "gavel-las-agnostic".
std::string TypePolicyOf(std::string_view order, bool aware);

// kInvalid with the names.
Result<TypePolicy> ParseTypePolicy(std::string_view name);

}  // namespace synergy
