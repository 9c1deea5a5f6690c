// Reads any bytes as a training's log. The result must not depend on how they are split.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "progress/log_progress.h"

namespace synergy {
namespace {

TrainingProgress Read(std::string_view bytes, size_t piece) {
  LogProgress log;
  while (!bytes.empty()) {
    log.Feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  log.End();
  return log.Current();
}

void CheckLog(std::string_view bytes) {
  const TrainingProgress read = Read(bytes, bytes.size() + 1);
  const TrainingProgress again = Read(bytes, 1 + bytes.size() % 7);
  SYNERGY_CHECK(read.iteration == again.iteration && read.total == again.total &&
                    read.epoch == again.epoch && read.rate == again.rate &&
                    read.overall_rate == again.overall_rate && read.loss == again.loss &&
                    read.counted == again.counted,
                "pieces of any size are one log");
  SYNERGY_CHECK(read.counted >= 0, "iterations are only added");
  for (const auto& rate : {read.rate, read.overall_rate}) {
    SYNERGY_CHECK(!rate || (std::isfinite(*rate) && *rate >= 0), "a rate is a number");
  }
}

}  // namespace
}  // namespace synergy

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  synergy::CheckLog(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
