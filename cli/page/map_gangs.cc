#include "cli/page/map_gangs.h"

#include "cli/views/gang_view.h"

namespace synergy::cli {
namespace {

MapObject ToMapObject(const GangView& gang) {
  MapObject object{{"size", std::to_string(gang.size)}};
  SetText(object, "problem", gang.problem);
  SetText(object, "waits", WaitText(gang));
  if (gang.members) {
    object["there"] = std::to_string(gang.members->there);
    object["running"] = std::to_string(RunningOf(*gang.members));
  }
  return object;
}

}  // namespace

std::string GangKey(const Pod& pod) {
  if (!pod.gang) return {};
  return pod.gang->name.empty() ? pod.pod_namespace + "/" + pod.name : pod.gang->name;
}

MapObjects GangsOf(const std::vector<Pod>& pods, const ClusterSnapshot& cluster) {
  MapObjects gangs;
  for (const Pod& pod : pods) {
    if (!pod.gang) continue;
    const std::string key = GangKey(pod);
    // What is wrong with the words of one of them keeps it from the others.
    if (gangs.contains(key) && pod.gang->problem.empty()) continue;
    gangs[key] = ToMapObject(View(*pod.gang, &cluster));
  }
  return gangs;
}

}  // namespace synergy::cli
