#pragma once

// Chooses the number of random histories that a test runs, and the seed of the first one. The
// environment variables SYNERGY_HISTORIES and SYNERGY_SEED set them. By default, a test runs
// `in_gate` histories; in the long tier, ten times as many.

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace synergy::testing {

inline uint64_t NumberFromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

inline uint64_t FirstSeed() { return NumberFromEnvironment("SYNERGY_SEED", 1); }

inline uint64_t Histories(uint64_t in_gate) {
  const char* const tier = std::getenv("SYNERGY_TIER");
  const bool is_long = tier != nullptr && std::string_view(tier) == "long";
  return NumberFromEnvironment("SYNERGY_HISTORIES", is_long ? 10 * in_gate : in_gate);
}

}  // namespace synergy::testing
