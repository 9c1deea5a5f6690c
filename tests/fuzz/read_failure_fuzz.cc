// Reads any bytes as the log of a failed job. The verdict has to be short, and must not depend on
// how the bytes are split.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "failure/classify.h"
#include "failure/evidence.h"
#include "failure/log_findings.h"
#include "json/text.h"

namespace synergy {
namespace {

std::optional<JobFailure> Read(std::string_view bytes, size_t piece) {
  LogTail log;
  while (!bytes.empty()) {
    log.Feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  log.End();
  return Classify({.exit_code = 1, .logs = {ReadLog(log)}});
}

void CheckFailure(std::string_view bytes) {
  const std::optional<JobFailure> one = Read(bytes, bytes.size() + 1);
  const std::optional<JobFailure> again = Read(bytes, 1 + bytes.size() % 7);
  SYNERGY_CHECK(one && again, "exit code 1 is a failure");
  SYNERGY_CHECK(one->category == again->category && one->evidence == again->evidence,
                "pieces of any size are one log");
  SYNERGY_CHECK(one->evidence.size() <= kLongestEvidence && json::IsUtf8(one->evidence),
                "evidence is short and valid");
}

}  // namespace
}  // namespace synergy

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  synergy::CheckFailure(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
