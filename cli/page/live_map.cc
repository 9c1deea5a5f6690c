#include "cli/page/live_map.h"

#include <chrono>
#include <utility>

#include "cli/page/map_objects.h"
#include "cli/views/pod_view.h"
#include "cli/views/queue_view.h"
#include "engine/reservations/published_reservation.h"
#include "json/writer.h"

namespace synergy::cli {
namespace {

MapPod OnMap(const Pod& pod, const ClusterFacts& facts, WallTime now) {
  MapPod on_map{.view = View(pod, facts.cluster.get(), facts.profiles, now), .gang = GangKey(pod)};
  if (!pod.waiting) return on_map;
  on_map.why = pod.waiting->message;
  const auto reservation = facts.reservations.find(pod.uid);
  if (reservation != facts.reservations.end())
    on_map.starts = DescribeStart(reservation->second, now);
  if (pod.waiting->since > WallTime{}) {
    on_map.since = Seconds(pod.waiting->since.time_since_epoch()).count();
  }
  return on_map;
}

}  // namespace

LiveMap::LiveMap(WallTime begun)
    : version_(static_cast<uint64_t>(
          std::chrono::floor<std::chrono::microseconds>(begun.time_since_epoch()).count())) {}

void LiveMap::SetProgress(const ProgressFacts& facts, WallTime now) {
  progress_note_ = facts.note;
  const std::map<std::string, MapProgress> published = std::exchange(progress_, {});
  for (const auto& [uid, known] : facts.by_uid) {
    const MapProgress progress = ProgressOnMap(known, now);
    const auto before = published.find(uid);
    const bool alike = before != published.end() && Alike(before->second, progress, now);
    progress_[uid] = alike ? before->second : progress;
  }
}

void LiveMap::SetQueues(const QueueFacts& facts, WallTime now) {
  queue_notes_ = facts.notes;
  MapQueues shown = QueuesOnMap(ViewOrderedQueues(facts, now));
  map_.Replace("queues", std::move(shown.queues));
  map_.Replace("workloads", std::move(shown.workloads));
}

void LiveMap::Update(const ClusterFacts& facts, WallTime now) {
  MapObjects nodes;
  if (facts.cluster != nullptr)
    for (const auto& [name, node] : NodesOf(*facts.cluster)) nodes[name] = ToMapObject(node);
  MapObjects pods;
  for (const Pod& pod : facts.pods) {
    MapPod on_map = OnMap(pod, facts, now);
    const auto progress = progress_.find(pod.uid);
    if (progress != progress_.end()) on_map.progress = progress->second;
    pods[pod.uid] = ToMapObject(on_map);
  }
  map_.Replace("nodes", std::move(nodes));
  map_.Replace("pods", std::move(pods));
  map_.Replace("gangs", GangsOf(facts.pods, facts.cluster.get()));
  MapObjects notes;
  const auto add = [&notes](const std::string& note) {
    if (!note.empty()) SetText(notes[std::to_string(notes.size())], "text", note);
  };
  for (const std::string& note : facts.notes) add(note);
  add(progress_note_);
  for (const std::string& note : queue_notes_) add(note);
  map_.Replace("notes", std::move(notes));
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
