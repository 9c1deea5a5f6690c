#pragma once

// The map of a cluster that the page shows: nodes, the GPU pods on them and those that wait, at one
// time; and what changes of it. docs/page.md has the schema.
//
// Threading: values; one owner of a recorder.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/page/map_progress.h"
#include "cli/views/pod_view.h"
#include "core/resources.h"

namespace synergy::cli {

// A node, a pod, a gang: its members by name, each as JSON text, so that whatever a member is, it
// is compared and sent in one way.
using MapObject = std::map<std::string, std::string>;
using MapObjects = std::map<std::string, MapObject>;  // by key

// Sets a member; an empty text, or none, is not there.
void SetText(MapObject& object, const char* member, std::string_view text);
void SetNumber(MapObject& object, const char* member, std::optional<double> number);

struct MapNode {
  std::string group;  // zone and rack; empty: not known
  ResourceVector allocatable;
  ResourceVector others;  // what pods without GPUs ask for
  bool schedulable = true;
};

struct MapPod {
  PodView view;
  std::string job;              // of a simulation; empty: none
  std::optional<double> since;  // waits since then, in seconds on the document's clock
  std::string why;              // it waits, in kube-scheduler's words; empty: it says nothing
  std::string gang;             // its key among the map's gangs; empty: none
  std::optional<MapProgress> progress;
};

MapObject ToMapObject(const MapNode& node);
// Fair share and demand where both are known; an allocation where it has a node.
MapObject ToMapObject(const MapPod& pod);

// Keeps the map as it is now, and what has changed since somebody was told.
class MapRecorder {
 public:
  // Pods have a key of their own that never changes: two may have the same name one after the
  // other.
  void SetNode(const std::string& name, MapObject node) {
    kinds_["nodes"].Set(name, std::move(node));
  }
  void SetPod(const std::string& key, MapObject pod) { kinds_["pods"].Set(key, std::move(pod)); }
  // Without effect for one that is not there.
  void RemoveNode(const std::string& name) { kinds_["nodes"].Remove(name); }
  void RemovePod(const std::string& key) { kinds_["pods"].Remove(key); }

  // These are all that there are of a kind: "nodes", "pods", "gangs", ...
  void Replace(const std::string& kind, MapObjects objects) {
    kinds_[kind].Replace(std::move(objects));
  }

  // {"nodes":{NAME:{...}},"pods":{KEY:{...}}}, and what else there is.
  std::string State() const;
  // From the state at the last call, or an empty one, to the present one: a JSON Merge Patch (RFC
  // 7386). Empty text: they are the same.
  std::string TakePatch();

 private:
  class Objects {
   public:
    void Set(const std::string& key, MapObject object);
    void Remove(const std::string& key);
    void Replace(MapObjects objects);
    bool empty() const { return now_.empty(); }
    std::string State() const;
    // None where nothing has changed.
    std::optional<std::string> TakePatch();

   private:
    void Touch(const std::string& key);

    MapObjects now_;
    // What was touched since the last patch, as it was then; none: it was not there.
    std::map<std::string, std::optional<MapObject>> before_;
  };

  std::map<std::string, Objects> kinds_{{"nodes", {}}, {"pods", {}}};
};

}  // namespace synergy::cli
