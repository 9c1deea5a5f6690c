#pragma once

// Lists the policies of a RoundPolicy: every valid combination of its fields policy, gpuTypes and
// workers, with its meaning. The CRD's enum, its validation and the table in docs/queues.md are
// generated from this list (tests/integration/queues/policy_forms_test.cc).
//
// Threading: pure.

#include <string>
#include <vector>

#include "core/result.h"
#include "queues/rounds.h"

namespace synergy {

struct PolicyForm {
  std::string policy;  // "las"
  // Whether the policy works without gpuTypes, and whether with gpuTypes: Ignore and Aware.
  bool alone = false;
  bool with_types = false;
  bool elastic = false;  // with workers: Elastic
  std::string meaning;   // of the policy alone
  std::string with_types_meaning;
  std::string needs;  // facts and fields that it needs to be useful; empty: none
};

// Returns one form for each valid value of the field `policy`.
std::vector<PolicyForm> PolicyForms();

// Returns kInvalid for an invalid combination, with the field and its valid values.
Result<> CheckForm(const RoundSettings& settings);

}  // namespace synergy
