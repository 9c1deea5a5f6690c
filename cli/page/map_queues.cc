#include "cli/page/map_queues.h"

#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/text/amounts.h"

namespace synergy::cli {
namespace {

MapObject ToMapObject(const QueueView& queue) {
  MapObject object{{"running", std::to_string(queue.running)},
                   {"waiting", std::to_string(queue.waiting)}};
  SetText(object, "title", HeadLine(queue));
  SetText(object, "problem", queue.problem);
  return object;
}

// The one at this place of its queue.
MapObject ToMapObject(const QueuedView& one, const std::string& queue, size_t order) {
  MapObject object{{"order", std::to_string(order)}, {"gpus", std::to_string(one.gpus.count())}};
  SetText(object, "queue", queue);
  SetText(object, "name", one.Name());
  SetText(object, "kind", one.kind);
  SetText(object, "state", one.state);
  SetText(object, "why", one.Why());
  SetText(object, "unplaced", fmt::format("{}", fmt::join(one.unplaced, ", ")));
  if (one.band) SetText(object, "band", ToString(*one.band));
  if (one.place) object["place"] = std::to_string(*one.place);
  if (!one.service) return object;
  const RoundService& had = *one.service;
  SetText(object, "gpuTime", ToShortText(Seconds(had.served)));
  SetText(object, "fairShareDelay", ToShortText(had.delays.fair_share));
  SetText(object, "fragmentationDelay", ToShortText(had.delays.fragmentation));
  object["lostTurns"] = std::to_string(had.lost_turns);
  return object;
}

}  // namespace

MapQueues QueuesOnMap(const std::vector<QueueView>& queues) {
  MapQueues shown;
  for (const QueueView& queue : queues) {
    shown.queues[queue.name] = ToMapObject(queue);
    size_t order = 0;
    for (const QueuedView& one : queue.workloads) {
      shown.workloads[one.workload_namespace + "/" + one.workload] =
          ToMapObject(one, queue.name, order++);
    }
  }
  return shown;
}

}  // namespace synergy::cli
