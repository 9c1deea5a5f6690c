#include "cli/views/event_view.h"

#include <cstdint>
#include <utility>

#include "cli/text/amounts.h"
#include "cli/text/table.h"
#include "core/wall_time.h"

namespace synergy::cli {

Tree ToTree(const std::vector<wire::EventAboutPod>& events) {
  Tree::List list;
  for (const wire::EventAboutPod& event : events) {
    list.push_back(Tree::Members{{"type", event.type},
                                 {"reason", event.reason},
                                 {"message", event.message},
                                 {"component", event.component},
                                 {"lastTimestamp", ToTimeText(event.last)},
                                 {"count", static_cast<int64_t>(event.count)}});
  }
  return list;
}

std::string EventsText(const std::vector<wire::EventAboutPod>& events, WallTime now) {
  if (events.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  rows.reserve(events.size());
  for (const wire::EventAboutPod& event : events)
    rows.push_back({ToShortText(now - event.last), event.reason, event.message});
  return "Events\n" + FormatTable(rows, 2);
}

}  // namespace synergy::cli
