#include "cli/page/live_map.h"

#include <map>
#include <utility>

#include "cli/page/map_nodes.h"
#include "cli/pod_view.h"
#include "json/writer.h"

namespace synergy::cli {
namespace {

MapPod OnMap(const Pod& pod, const Profiles& profiles, WallTime now) {
  MapPod on_map{.view = View(pod, profiles, now)};
  if (!pod.waiting) return on_map;
  on_map.why = pod.waiting->message;
  if (pod.waiting->since > WallTime{}) {
    on_map.since = Seconds(pod.waiting->since.time_since_epoch()).count();
  }
  return on_map;
}

}  // namespace

void LiveMap::Update(const ClusterFacts& facts, WallTime now) {
  std::map<std::string, MapObject> nodes;
  for (const auto& [name, node] : NodesOf(*facts.cluster)) nodes[name] = ToMapObject(node);
  std::map<std::string, MapObject> pods;
  for (const Pod& pod : facts.pods) pods[pod.uid] = ToMapObject(OnMap(pod, facts.profiles, now));
  map_.Replace(std::move(nodes), std::move(pods));
  std::string patch = map_.TakePatch();
  if (patch.empty()) return;
  ++version_;
  patches_.push_back(std::move(patch));
  if (patches_.size() > kRemembered) patches_.pop_front();
}

std::string LiveMap::Since(std::optional<uint64_t> version) const {
  json::Writer out;
  out.BeginObject();
  out.Key("version");
  out.Integer(static_cast<int64_t>(version_));
  if (version && *version <= version_ && version_ - *version <= patches_.size()) {
    out.Key("patches");
    out.BeginArray();
    for (size_t at = patches_.size() - (version_ - *version); at < patches_.size(); ++at) {
      out.Raw(patches_[at]);
    }
    out.EndArray();
  } else {
    out.Key("state");
    out.Raw(map_.State());
  }
  out.EndObject();
  return out.Take();
}

}  // namespace synergy::cli
