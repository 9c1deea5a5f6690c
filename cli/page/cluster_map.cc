#include "cli/page/cluster_map.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "json/writer.h"

namespace synergy::cli {
namespace {

std::string JsonText(std::string_view text) {
  json::Writer out;
  out.Text(text);
  return out.Take();
}

std::string Count(Gpus gpus) { return std::to_string(gpus.count()); }

// Writes cores and bytes.
void WriteDivided(json::Writer& out, const ResourceVector& amounts) {
  out.Key("cpu");
  out.Number(static_cast<double>(amounts.cpu.count()) / 1000);
  out.Key("memory");
  out.Integer(amounts.memory.count());
}

std::string Divided(const ResourceVector& amounts) {
  json::Writer out;
  out.BeginObject();
  WriteDivided(out, amounts);
  out.EndObject();
  return out.Take();
}

std::string AllAmounts(const ResourceVector& amounts) {
  json::Writer out;
  out.BeginObject();
  out.Key("gpus");
  out.Integer(amounts.gpus.count());
  WriteDivided(out, amounts);
  out.EndObject();
  return out.Take();
}

void SetSlices(MapObject& object, Slices slices, bool in_turns) {
  if (slices > Slices(0)) object[in_turns ? "turns" : "slices"] = std::to_string(slices.count());
}

// Joins the members, whose values are JSON text.
std::string Json(const MapObject& object) {
  json::Writer out;
  out.BeginObject();
  for (const auto& [member, json] : object) {
    out.Key(member);
    out.Raw(json);
  }
  out.EndObject();
  return out.Take();
}

MapObject Changed(const MapObject& before, const MapObject& now) {
  MapObject changed;
  for (const auto& [member, json] : now) {
    const auto old = before.find(member);
    if (old == before.end() || old->second != json) changed[member] = json;
  }
  for (const auto& [member, json] : before) {
    if (!now.contains(member)) changed[member] = "null";
  }
  return changed;
}

}  // namespace

void SetText(MapObject& object, const char* member, std::string_view text) {
  if (!text.empty()) object[member] = JsonText(text);
}

void SetNumber(MapObject& object, const char* member, std::optional<double> number) {
  if (!number) return;
  json::Writer out;
  out.Number(*number);
  object[member] = out.Take();
}

MapObject ToMapObject(const MapNode& node) {
  MapObject object{{"allocatable", AllAmounts(node.allocatable)},
                   {"others", Divided(node.others)},
                   {"schedulable", node.schedulable ? "true" : "false"}};
  SetSlices(object, node.slices, node.in_turns);
  SetText(object, "group", node.group);
  return object;
}

MapObject ToMapObject(const MapPod& pod) {
  const PodView& view = pod.view;
  MapObject object{{"gpus", Count(view.gpus)}};
  SetSlices(object, view.slices, view.in_turns);
  SetText(object, "name", view.name);
  SetText(object, "namespace", view.pod_namespace);
  SetText(object, "node", view.node);
  SetText(object, "state", view.state);
  SetText(object, "profile", view.profile);
  SetText(object, "job", pod.job);
  SetText(object, "why", pod.why);
  SetText(object, "starts", pod.starts);
  SetText(object, "gang", pod.gang);
  if (!view.node.empty()) object["allocation"] = Divided(view.allocated);
  if (view.fair_share && view.demand) {
    object["fairShare"] = Divided(*view.fair_share);
    object["demand"] = Divided(*view.demand);
  }
  SetNumber(object, "since", pod.since);
  if (!pod.progress) return object;
  const MapProgress& progress = *pod.progress;
  if (progress.suspended && view.state == "placed") SetText(object, "state", "suspended");
  if (progress.rate)
    SetNumber(object, progress.rate->busy ? "busy" : "rate", progress.rate->amount);
  SetNumber(object, "done", progress.done);
  SetNumber(object, "ends", progress.ends);
  SetNumber(object, "silent", progress.silent);
  return object;
}

void MapRecorder::Objects::Touch(const std::string& key) {
  if (before_.contains(key)) return;
  const auto old = now_.find(key);
  before_.emplace(key, old == now_.end() ? std::nullopt : std::optional(old->second));
}

void MapRecorder::Objects::Set(const std::string& key, MapObject object) {
  Touch(key);
  now_.insert_or_assign(key, std::move(object));
}

void MapRecorder::Objects::Remove(const std::string& key) {
  Touch(key);
  now_.erase(key);
}

void MapRecorder::Objects::Replace(MapObjects objects) {
  for (const auto& [key, object] : now_) {
    if (!objects.contains(key)) before_.try_emplace(key, object);
  }
  for (const auto& [key, object] : objects) {
    const auto old = now_.find(key);
    if (old == now_.end() || old->second != object) Touch(key);
  }
  now_ = std::move(objects);
}

std::string MapRecorder::Objects::State() const {
  MapObject state;
  for (const auto& [key, object] : now_) state[key] = Json(object);
  return Json(state);
}

std::optional<std::string> MapRecorder::Objects::TakePatch() {
  MapObject patch;
  for (const auto& [key, before] : std::exchange(before_, {})) {
    const auto now = now_.find(key);
    if (now == now_.end()) {
      if (before) patch[key] = "null";
    } else if (const MapObject changed = Changed(before.value_or(MapObject()), now->second);
               !before || !changed.empty()) {
      patch[key] = Json(changed);
    }
  }
  if (patch.empty()) return std::nullopt;
  return Json(patch);
}

std::string MapRecorder::State() const {
  MapObject state;
  for (const auto& [kind, objects] : kinds_) {
    if (!objects.empty() || kind == "nodes" || kind == "pods") state[kind] = objects.State();
  }
  return Json(state);
}

std::string MapRecorder::TakePatch() {
  MapObject patch;
  for (auto& [kind, objects] : kinds_) {
    if (auto changed = objects.TakePatch()) patch[kind] = *std::move(changed);
  }
  return patch.empty() ? std::string() : Json(patch);
}

namespace {

constexpr double kStep = 0.02;

double OnClock(WallTime time) { return std::round(Seconds(time.time_since_epoch()).count()); }

bool Within(const std::optional<double>& a, const std::optional<double>& b, double distance) {
  return a && b ? std::abs(*a - *b) <= distance : a.has_value() == b.has_value();
}

bool AlikeRates(const std::optional<ShownRate>& a, const std::optional<ShownRate>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->busy == b->busy && std::abs(a->amount - b->amount) <= kStep * std::abs(a->amount);
}

}  // namespace

MapProgress ProgressOnMap(const KnownProgress& known, WallTime now) {
  MapProgress progress{.rate = RateOf(known.pod),
                       .done = PartDone(known.pod),
                       .suspended = known.pod.turn && known.pod.turn->suspended};
  if (progress.done) progress.done = std::round(100 * *progress.done) / 100;
  if (const auto silence = Silence(known)) {
    progress.silent = OnClock(now - *silence);
  } else if (known.pod.remaining) {
    progress.ends = OnClock(now - known.age + *known.pod.remaining);
  }
  return progress;
}

bool Alike(const MapProgress& published, const MapProgress& progress, WallTime now) {
  const double left = progress.ends ? *progress.ends - OnClock(now) : 0;
  return AlikeRates(published.rate, progress.rate) && published.done == progress.done &&
         published.suspended == progress.suspended &&
         Within(published.ends, progress.ends, std::max(2.0, kStep * left)) &&
         Within(published.silent, progress.silent, 10);
}

}  // namespace synergy::cli
