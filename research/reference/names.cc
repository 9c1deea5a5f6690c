#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "research/reference/reference_simulator.h"

namespace synergy {
namespace {

char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool IsSameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return ToLower(x) == ToLower(y); });
}

template <class Value, size_t kCount>
Result<Value> Lookup(std::string_view what, std::string_view name,
                     const std::pair<std::string_view, Value> (&values)[kCount]) {
  std::string known;
  for (const auto& [other, value] : values) {
    if (IsSameName(name, other)) return value;
    known += known.empty() ? "" : ", ";
    known += other;
  }
  return Fail(ErrorCode::kInvalid,
              fmt::format("\"{}\" is not a {} of the reference simulator: use one of {}", name,
                          what, known));
}

}  // namespace

Result<ReferencePolicy> ParseReferencePolicy(std::string_view name) {
  return Lookup<ReferencePolicy>("policy", name,
                                 {{"FIFO", ReferencePolicy::kFifo},
                                  {"SRTF", ReferencePolicy::kSrtf},
                                  {"LAS", ReferencePolicy::kLas},
                                  {"FTF", ReferencePolicy::kFtf},
                                  {"DRF", ReferencePolicy::kDrf},
                                  {"TETRIS", ReferencePolicy::kTetris}});
}

Result<ReferenceMechanism> ParseReferenceMechanism(std::string_view name) {
  return Lookup<ReferenceMechanism>("mechanism", name,
                                    {{"fair", ReferenceMechanism::kFair},
                                     {"greedy", ReferenceMechanism::kGreedy},
                                     {"tune", ReferenceMechanism::kTune},
                                     {"opt", ReferenceMechanism::kOpt}});
}

Result<ReferenceArrivals> ParseReferenceArrivals(std::string_view name) {
  return Lookup<ReferenceArrivals>("kind of arrivals", name,
                                   {{"auto", ReferenceArrivals::kAuto},
                                    {"static", ReferenceArrivals::kStatic},
                                    {"replay", ReferenceArrivals::kReplay},
                                    {"generated", ReferenceArrivals::kGenerated}});
}

}  // namespace synergy
