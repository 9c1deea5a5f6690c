#pragma once

// Failures with what is expected of them, from tests/data/failure (README.md there).

#include <map>
#include <string>
#include <vector>

#include "failure/classify.h"

namespace synergy::testing {

struct FailureCase {
  std::string file;
  std::string name;
  std::string category;                         // "none": no failure
  std::map<std::string, std::string> expected;  // cause, behaviour, advice, contains
  FailureFacts facts;                           // without logs
  std::vector<std::string> logs;
};

std::vector<FailureCase> ReadFailureCases();

// Classifies the case with these logs in place of its own.
std::optional<JobFailure> ClassifyWith(const FailureCase& given,
                                       const std::vector<std::string>& logs);

}  // namespace synergy::testing
