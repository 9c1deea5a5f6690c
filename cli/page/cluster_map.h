#pragma once

// The map of a cluster that the page shows: nodes, the GPU pods on them and those that wait, at one
// time; and what changes of it. docs/page.md has the schema.
//
// Threading: values; one owner of a recorder.

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cli/pod_view.h"
#include "core/resources.h"

namespace synergy::cli {

// A node or a pod: its members by name, each as JSON text, so that whatever a member is, it is
// compared and sent in one way.
using MapObject = std::map<std::string, std::string>;

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
};

MapObject ToMapObject(const MapNode& node);
// Fair share and demand where both are known; an allocation where it has a node.
MapObject ToMapObject(const MapPod& pod);

// Keeps the map as it is now, and what has changed since somebody was told.
class MapRecorder {
 public:
  // Pods have a key of their own that never changes: two may have the same name one after the
  // other.
  void SetNode(const std::string& name, MapObject node) { nodes_.Set(name, std::move(node)); }
  void SetPod(const std::string& key, MapObject pod) { pods_.Set(key, std::move(pod)); }
  // Without effect for one that is not there.
  void RemoveNode(const std::string& name) { nodes_.Remove(name); }
  void RemovePod(const std::string& key) { pods_.Remove(key); }

  // These are all that there is.
  void Replace(std::map<std::string, MapObject> nodes, std::map<std::string, MapObject> pods) {
    nodes_.Replace(std::move(nodes));
    pods_.Replace(std::move(pods));
  }

  // {"nodes":{NAME:{...}},"pods":{KEY:{...}}}
  std::string State() const;
  // From the state at the last call, or an empty one, to the present one: a JSON Merge Patch (RFC
  // 7386). Empty text: they are the same.
  std::string TakePatch();

 private:
  class Objects {
   public:
    void Set(const std::string& key, MapObject object);
    void Remove(const std::string& key);
    void Replace(std::map<std::string, MapObject> objects);
    std::string State() const;
    // None where nothing has changed.
    std::optional<std::string> TakePatch();

   private:
    void Touch(const std::string& key);

    std::map<std::string, MapObject> now_;
    // What was touched since the last patch, as it was then; none: it was not there.
    std::map<std::string, std::optional<MapObject>> before_;
  };

  Objects nodes_;
  Objects pods_;
};

}  // namespace synergy::cli
