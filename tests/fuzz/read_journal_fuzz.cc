// Reads any lines as a journal: changes that can be read are written back unchanged, and can be
// applied to a cluster.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cluster/state/cluster_state.h"
#include "core/check.h"
#include "json/text.h"
#include "wire/journal/journal.h"

namespace synergy::wire {
namespace {

void CheckLine(std::string_view line, ClusterState& state) {
  const Result<ClusterChange> change = ReadJournalLine(line);
  if (!change) {
    SYNERGY_CHECK(json::IsUtf8(change.error().message), "messages are UTF-8");
    return;
  }
  const std::string written = WriteJournalLine(*change);
  const Result<ClusterChange> again = ReadJournalLine(written);
  SYNERGY_CHECK(again && WriteJournalLine(*again) == written, "what is written is read as it was");
  // The change may be in conflict with the state.
  static_cast<void>(state.Apply(*change));
  state.Snapshot();
}

void CheckLines(std::string_view text) {
  ClusterState state;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    CheckLine(text.substr(0, end), state);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace
}  // namespace synergy::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  synergy::wire::CheckLines(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
