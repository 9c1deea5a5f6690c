#pragma once

// The map of a cluster that the page shows, and the map's changes. It contains the nodes, the GPU
// pods on them, and the waiting GPU pods at one time. docs/internals/page.md has the schema.
//
// Threading: values; one owner of a recorder.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/cluster/progress.h"
#include "cli/views/pod_view.h"
#include "core/clock.h"
#include "core/resources.h"

namespace synergy::cli {

// A pod's progress as it is sent to the page. Its times are absolute, and its values are rounded to
// visible steps, so that little must be sent again while a training proceeds as predicted.

// Times are in seconds since 1970.
struct MapProgress {
  std::optional<ShownRate> rate;
  std::optional<double> done;    // 0 to 1, in hundredths
  std::optional<double> ends;    // predicted end; absent if it has fallen silent
  std::optional<double> silent;  // time of the last report if that is more than two minutes ago
  bool suspended = false;        // another pod has its turn on the GPU
};

// `now`: the time at which `known` was read.
MapProgress ProgressOnMap(const KnownProgress& known, WallTime now);

// Returns whether `progress` need not be sent after `published`. Rates and times left may differ by
// 2 % (times also by two seconds); nothing else visible may have changed.
bool Alike(const MapProgress& published, const MapProgress& progress, WallTime now);

// The members of a node, a pod or a gang, by name. Each value is JSON text, so that members of all
// types are compared and sent in the same way.
using MapObject = std::map<std::string, std::string>;
using MapObjects = std::map<std::string, MapObject>;  // by key

// Set a member. An empty text or a missing number is omitted.
void SetText(MapObject& object, const char* member, std::string_view text);
void SetNumber(MapObject& object, const char* member, std::optional<double> number);

struct MapNode {
  std::string group;  // zone and rack; empty: unknown
  ResourceVector allocatable;
  Slices slices;          // of shared GPUs
  bool in_turns = false;  // `slices` are turns
  ResourceVector others;  // requests of pods without GPUs
  bool schedulable = true;
};

struct MapPod {
  PodView view;
  std::string job;              // its job in a simulation; empty: none
  std::optional<double> since;  // when its wait began, in seconds on the document's clock
  std::string why;              // kube-scheduler's reason for its wait; empty: not reported
  std::string starts;           // when and where it likely starts; empty: no GPUs are reserved
  std::string gang;             // its key among the map's gangs; empty: none
  std::optional<MapProgress> progress;
};

MapObject ToMapObject(const MapNode& node);
// Includes fair share and demand if both are known, and the allocation if the pod has a node.
MapObject ToMapObject(const MapPod& pod);

// Keeps the present map, and its changes since the last patch.
class MapRecorder {
 public:
  // Pods have keys that never change and are never reused, unlike their names.
  void SetNode(const std::string& name, MapObject node) {
    kinds_["nodes"].Set(name, std::move(node));
  }
  void SetPod(const std::string& key, MapObject pod) { kinds_["pods"].Set(key, std::move(pod)); }
  // Does nothing if the node does not exist.
  void RemoveNode(const std::string& name) { kinds_["nodes"].Remove(name); }
  void RemovePod(const std::string& key) { kinds_["pods"].Remove(key); }

  // Replaces all objects of a kind: "nodes", "pods", "gangs", ...
  void Replace(const std::string& kind, MapObjects objects) {
    kinds_[kind].Replace(std::move(objects));
  }

  // Returns {"nodes":{NAME:{...}},"pods":{KEY:{...}}}, plus other kinds if there are any.
  std::string State() const;
  // Returns a JSON Merge Patch (RFC 7386) from the state at the last call, or the empty state, to
  // the present one; empty if they are equal.
  std::string TakePatch();

 private:
  class Objects {
   public:
    void Set(const std::string& key, MapObject object);
    void Remove(const std::string& key);
    void Replace(MapObjects objects);
    bool empty() const { return now_.empty(); }
    std::string State() const;
    // Returns nullopt if nothing has changed.
    std::optional<std::string> TakePatch();

   private:
    void Touch(const std::string& key);

    MapObjects now_;
    // Objects changed since the last patch, in their state then; nullopt: the object did not exist.
    std::map<std::string, std::optional<MapObject>> before_;
  };

  std::map<std::string, Objects> kinds_{{"nodes", {}}, {"pods", {}}};
};

}  // namespace synergy::cli
