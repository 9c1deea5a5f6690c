#pragma once

// Checks servers against the measurements of models. With less CPU or memory per GPU than in every
// point of a profile, the throughput is unknown. With more than in every point, it counts as that
// of the largest measured amount.
//
// This file is separate because servers are known later than profiles. Threading: pure.

#include <set>
#include <string>
#include <string_view>

#include "core/resources.h"
#include "core/result.h"
#include "sim/model_facts.h"

namespace synergy::cli {

// Returns the names of the models of these jobs.
template <class Jobs>
std::set<std::string> ModelsOf(const Jobs& jobs) {
  std::set<std::string> models;
  for (const auto& job : jobs) models.insert(job.model);
  return models;
}

// The server to check, and how error messages begin.
struct CheckedServer {
  ResourceVector amounts;
  std::string_view option;  // precedes the message; if empty, --cpus or --memory does
  // Relative to the measured GPUs. A GPU that is twice as fast needs twice the measured CPU
  // amounts.
  double gpu_speed = 1;
};

// Returns kInvalid, which names the model and the cure, if one of the models was not measured with
// as little per GPU as the server has.
Result<> CheckServer(const ModelFacts& facts, const std::set<std::string>& models,
                     const CheckedServer& server);

// Returns the largest of the models' smallest measured numbers of CPUs per GPU.
double LeastCpusPerGpu(const ModelFacts& facts);

// Returns a line about servers with more CPUs per GPU than any model was measured with, or else
// with more memory; empty if they have no more.
std::string ExtrapolatedModels(const ModelFacts& facts, const ResourceVector& server,
                               double gpu_speed = 1);
std::string ExtrapolatedMemory(const ModelFacts& facts, const ResourceVector& server);

}  // namespace synergy::cli
