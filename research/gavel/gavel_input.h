#pragma once

// The input of Gavel's simulator (OSDI'20, section 7): jobs, and the speed of each model on each
// GPU type.
//
// Threading: pure. Failures: kInvalid; for files with file, line, column and the cure.

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
  int64_t id = 0;  // line number, from 0
  std::string model;
  int64_t gpus = 1;
  int64_t steps = 0;  // iterations of all GPUs together
  double weight = 1;
  // The job's deadline, as a multiple of its time on its fastest type.
  std::optional<double> slo;
  Seconds submitted{};
};

// Parses Gavel's format, one job on each line, separated by tabs: model, command, working
// directory, argument for the steps, whether it needs a data directory, steps, GPUs, weight, SLO
// (below 0: none), arrival in seconds. Ids follow the order of the file.
Result<std::vector<GavelTraceJob>> ParseGavelTrace(std::string_view text, std::string_view file);
// Returns the jobs in the same format.
std::string ToGavelTrace(std::span<const GavelTraceJob> jobs);

// Iterations per second by model, number of the job's GPUs, and type.
class GavelThroughputs {
 public:
  // Parses CSV with model, gpus and a column for each type. 0: the job does not run on that type.
  static Result<GavelThroughputs> Parse(std::string_view text, std::string_view file);
  // Adds the throughputs of pairs: of two jobs with one GPU each on the same GPU. Parses CSV with
  // first, second, and for each type TYPE_first and TYPE_second. 0: they do not run together on
  // that type.
  static Result<GavelThroughputs> WithPairs(GavelThroughputs alone, std::string_view text,
                                            std::string_view file);
  // Returns the throughputs of 26 models on k80, p100 and v100, alone and in pairs, as Gavel's
  // authors measured them.
  static GavelThroughputs Published();

  const std::vector<std::string>& types() const { return types_; }
  bool Has(const std::string& model, int64_t gpus) const { return rates_.count({model, gpus}) > 0; }
  // Sorts `types`, fastest first, by the sum over all models. Returns kInvalid for an unknown type.
  Result<std::vector<std::string>> FastestFirst(std::vector<std::string> types) const;
  // Returns a value for each type. REQUIRES: the types are known.
  Result<std::vector<double>> Of(const std::string& model, int64_t gpus,
                                 const std::vector<std::string>& types) const;
  // Values of the first and of the second job for each type; each job has one GPU. OfPair() returns
  // nullopt if the pair was not measured.
  using Together = std::vector<std::array<double, 2>>;
  std::optional<Together> OfPair(const std::string& first, const std::string& second,
                                 const std::vector<std::string>& types) const;
  bool HasPairs() const { return !pairs_.empty(); }
  // Returns the models that run on this many GPUs of the type, sorted by name. REQUIRES: the type
  // is known.
  std::vector<std::string> Models(int64_t gpus, std::string_view type) const;

 private:
  size_t ColumnOf(std::string_view type) const;

  std::vector<std::string> types_;
  // values in the order of `types_`
  std::map<std::pair<std::string, int64_t>, std::vector<double>> rates_;
  // values in the order of `types_`
  std::map<std::pair<std::string, std::string>, Together> pairs_;
};

}  // namespace synergy
