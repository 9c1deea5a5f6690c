#include "failure/own_doing.h"

#include <algorithm>
#include <cstdint>

#include <re2/re2.h>

namespace synergy {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// The time for which the tuner watches a change (memoryWatch).
constexpr Duration kWatch = minutes(10);
// The longest timeout of collective operations, plus the time until it is reported.
constexpr Duration kCollective = minutes(35);
constexpr Duration kConnection = seconds(120);
constexpr int64_t kLongestTimeout = 24 * 3600;  // s

// Returns the timeout that the line names, or `otherwise`.
Duration TimeoutIn(std::string_view line, Duration otherwise) {
  static const re2::RE2 timeout(
      R"((?i)timeout\(ms\)=(\d{1,12})|(\d{1,12}) ?(?:ms|milliseconds)\b|(\d{1,9}) ?(?:s|secs?|seconds)\b)",
      re2::RE2::Latin1);
  std::string set;
  std::string milliseconds;
  std::string whole_seconds;
  if (!re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), timeout, &set,
                              &milliseconds, &whole_seconds)) {
    return otherwise;
  }
  const int64_t length =
      !whole_seconds.empty() ? std::stoll(whole_seconds) : std::stoll(set + milliseconds) / 1000;
  return seconds(std::min(length, kLongestTimeout));
}

bool CanCause(const OwnAct& act, const OwnDoingQuery& query) {
  const Category category = query.category;
  switch (act.act) {
    case Act::kFreeze:
      switch (category) {
        case Category::kCollectiveTimeout:
          return act.before_end <= TimeoutIn(query.evidence, kCollective);
        case Category::kPeerLost:
        case Category::kNetwork:
        case Category::kMpi:
          return act.before_end <= TimeoutIn(query.evidence, kConnection);
        default:
          return false;
      }
    case Act::kMemory:
      return act.before_end <= kWatch && (category == Category::kHostOom ||
                                          (category == Category::kEvicted && query.for_memory));
    case Act::kLimit:
      return category == Category::kHostOom;
    case Act::kCpu:
      return act.before_end <= kWatch && ((category == Category::kCudaInit && !query.device_lost) ||
                                          category == Category::kCollectiveTimeout);
    case Act::kShare:
      return category == Category::kGpuOom || category == Category::kCudaLibrary ||
             category == Category::kDeviceAssert || category == Category::kIllegalAccess;
    case Act::kTakeAway:
      return act.before_end <= kWatch &&
             (category == Category::kEvicted || category == Category::kPreempted ||
              (category == Category::kKilled && query.by_signal));
  }
  return false;
}

}  // namespace

const std::vector<ActName>& ActNames() {
  static const std::vector<ActName> names = {
      {"freeze", Act::kFreeze},  {"thaw", Act::kFreeze},         {"memory", Act::kMemory},
      {"cache", Act::kMemory},   {"limit", Act::kLimit},         {"resize", Act::kCpu},
      {"loan", Act::kCpu},       {"probe", Act::kCpu},           {"share", Act::kShare},
      {"packing", Act::kShare},  {"move", Act::kTakeAway},       {"preemption", Act::kTakeAway},
      {"round", Act::kTakeAway}, {"suspension", Act::kTakeAway},
  };
  return names;
}

std::optional<Act> ActBehind(const OwnDoingQuery& query, const std::vector<OwnAct>& acts) {
  for (const OwnAct& act : acts) {
    if (CanCause(act, query)) return act.act;
  }
  return std::nullopt;
}

std::string_view Describe(Act act) {
  switch (act) {
    case Act::kFreeze:
      return "suspended it for turns on its GPU";
    case Act::kMemory:
      return "changed its memory or dropped its page cache";
    case Act::kLimit:
      return "chose its memory limit";
    case Act::kCpu:
      return "changed its CPU";
    case Act::kShare:
      return "put another pod on its GPU";
    case Act::kTakeAway:
      return "evicted it";
  }
  return "";
}

}  // namespace synergy
