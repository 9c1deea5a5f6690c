#pragma once

// The input of Gavel's simulator (OSDI'20, section 7): jobs, and the speed of each model on each
// GPU type.
//
// Threading: pure. Failures: kInvalid; of files with file, line, column and the cure.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/result.h"

namespace synergy {

struct GavelTraceJob {
  int64_t id = 0;  // the line, from 0
  std::string model;
  int64_t gpus = 1;
  int64_t steps = 0;  // iterations, of all GPUs together
  double weight = 1;
  // The job's deadline, as a multiple of its time on its fastest type.
  std::optional<double> slo;
  Seconds submitted{};
};

// Parses Gavel's format, a line per job, tab separated: model, command, working directory, argument
// for the steps, whether it needs a data directory, steps, GPUs, weight, SLO (below 0: none),
// arrival in seconds. Ids are assigned in the order of the file.
Result<std::vector<GavelTraceJob>> ParseGavelTrace(std::string_view text, std::string_view file);
// Returns the jobs in the same format.
std::string ToGavelTrace(std::span<const GavelTraceJob> jobs);

// Iterations per second by model, GPUs of the job and type.
class GavelThroughputs {
 public:
  // Parses CSV with model, gpus and a column for each type. 0: the job does not run there.
  static Result<GavelThroughputs> Parse(std::string_view text, std::string_view file);
  // Adds the throughputs of pairs. CSV with first, second, and for each type TYPE_first and
  // TYPE_second: two jobs of one GPU each on the same GPU. 0: they do not run together there.
  static Result<GavelThroughputs> WithPairs(GavelThroughputs alone, std::string_view text,
                                            std::string_view file);
  // Returns the throughputs of 26 models on k80, p100 and v100, as Gavel's authors measured them,
  // alone and in pairs.
  static GavelThroughputs Published();

  const std::vector<std::string>& types() const { return types_; }
  bool Has(const std::string& model, int64_t gpus) const { return rates_.count({model, gpus}) > 0; }
  // Sorts `types` from the fastest, by the sum over all models. kInvalid for an unknown type.
  Result<std::vector<std::string>> FastestFirst(std::vector<std::string> types) const;
  // Returns values per type. REQUIRES: the types are known.
  Result<std::vector<double>> Of(const std::string& model, int64_t gpus,
                                 const std::vector<std::string>& types) const;
  // Per type, of the first and of the second job, each of one GPU. OfPair() returns nullopt if the
  // pair was not measured.
  using Together = std::vector<std::array<double, 2>>;
  std::optional<Together> OfPair(const std::string& first, const std::string& second,
                                 const std::vector<std::string>& types) const;
  bool HasPairs() const { return !pairs_.empty(); }
  // Returns the models that run on this many GPUs of the type, by name. REQUIRES: the type is
  // known.
  std::vector<std::string> Models(int64_t gpus, std::string_view type) const;

 private:
  size_t ColumnOf(std::string_view type) const;

  std::vector<std::string> types_;
  std::map<std::pair<std::string, int64_t>, std::vector<double>> rates_;  // as `types_`
  std::map<std::pair<std::string, std::string>, Together> pairs_;         // as `types_`
};

}  // namespace synergy
