#include "core/text/quantity_text.h"

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

namespace synergy {
namespace {

struct Suffix {
  std::string_view text;
  int64_t factor;
};

// Largest first, so that the first suffix that divides the value is used.
constexpr Suffix kSuffixes[] = {{"Ei", int64_t{1} << 60}, {"E", 1'000'000'000'000'000'000},
                                {"Pi", int64_t{1} << 50}, {"P", 1'000'000'000'000'000},
                                {"Ti", int64_t{1} << 40}, {"T", 1'000'000'000'000},
                                {"Gi", int64_t{1} << 30}, {"G", 1'000'000'000},
                                {"Mi", int64_t{1} << 20}, {"M", 1'000'000},
                                {"Ki", int64_t{1} << 10}, {"k", 1'000}};

}  // namespace

std::string ToQuantityText(MilliCpu cpu) {
  if (cpu.count() % 1000 == 0) return fmt::format("{}", cpu.count() / 1000);
  return fmt::format("{}m", cpu.count());
}

std::string ToQuantityText(Bytes bytes) {
  for (const Suffix& suffix : kSuffixes) {
    if (bytes.count() != 0 && bytes.count() % suffix.factor == 0)
      return fmt::format("{}{}", bytes.count() / suffix.factor, suffix.text);
  }
  return fmt::format("{}", bytes.count());
}

std::string DescribeGpus(Gpus gpus) {
  return fmt::format("{} GPU{}", gpus.count(), gpus == Gpus(1) ? "" : "s");
}

std::string DescribeCpuAndMemory(const ResourceVector& amounts) {
  return fmt::format("cpu {}, memory {}", ToQuantityText(amounts.cpu),
                     ToQuantityText(amounts.memory));
}

}  // namespace synergy
