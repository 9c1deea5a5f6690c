#pragma once

// Runs the program of tests/oracle, which answers with kube-scheduler's own code.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace synergy {

// Returns SYNERGY_SEED, or a fixed seed, and prints it, so that a failure can be repeated.
uint64_t OracleSeed();

struct OracleCase {
  std::string input;   // one line of JSON
  std::string answer;  // one line of JSON
};

// Returns `count` random inputs of the given kind ("mixes", "pods" or "quantities") with
// kube-scheduler's answers. Ends the process if the oracle cannot run.
std::vector<OracleCase> GenerateOracleCases(std::string_view kind, int count, uint64_t seed);

// Counts these pods (JSON, one line each) by the formulas from before Kubernetes 1.37. Returns a
// line for each pod: an object with two resource lists, "container" (1.35) and "pod" (1.36). Ends
// the process if the program cannot run.
std::vector<std::string> RequestsBefore137(const std::vector<std::string_view>& pods);

// Returns the raw text of a member of a JSON object; empty if there is none. REQUIRES: the text is
// valid.
std::string_view RawMember(std::string_view object, std::string_view key);

// Counts differences, and stores the first few with their inputs.
class Differences {
 public:
  void Add(const OracleCase& of, std::string what);
  int count() const { return count_; }
  const std::string& report() const { return report_; }

 private:
  int count_ = 0;
  std::string report_;
};

}  // namespace synergy
