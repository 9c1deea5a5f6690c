#pragma once

// A GPU pod in the commands' output: what it has, what it is guaranteed, what it could use, and its
// events.
//
// Threading: pure.

#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/cluster_facts.h"
#include "cli/cluster/progress.h"
#include "cli/text/tree.h"
#include "cluster/pod.h"
#include "core/clock.h"
#include "wire/objects/event_about_pod.h"

namespace synergy::cli {

// Throughput according to the profile, in the profile's unit.
struct Speed {
  double now = 0;   // a lower bound: with enforcement `shared`, idle CPU adds to it
  double fair = 0;  // with the fair share; 0: unknown
  double best = 0;

  double PartOfBest() const { return best > 0 ? now / best : 0; }
};

struct PodView {
  std::string pod_namespace;
  std::string name;
  std::string node;   // empty: none yet
  std::string state;  // one word or a few: "placed", "unschedulable", "resize deferred"
  Gpus gpus;
  Slices slices;          // of shared GPUs
  bool in_turns = false;  // `slices` are turns
  std::string profile;    // empty: none
  ResourceVector allocated;
  // Set for a pod that Synergy may change.
  std::optional<ResourceVector> floor;
  std::optional<ResourceVector> fair_share;
  std::optional<ResourceVector> demand;
  ResourceVector surplus;      // what may be taken from it (allocation/surplus.h)
  std::optional<Speed> speed;  // set for a pod with a node and a profile
  std::optional<KnownProgress> progress;
};

// `cluster`: null if unknown.
PodView View(const Pod& pod, const ClusterSnapshot* cluster, const Profiles& profiles,
             WallTime now);

// Sets the progress, which may show that a placed pod is suspended.
void SetProgress(PodView& view, std::optional<KnownProgress> progress);
// Returns whether the amounts of a pod or a node include GPUs in turns.
bool HasTurns(const ScalarResources& amounts);

// Returns text such as "2", or "1 slice" or "1 turn" for a pod that shares GPUs.
std::string GpusText(const PodView& view);
Tree ToTree(const ResourceVector& amounts);  // {"cpu": "1500m", "memory": "4Gi"}
Tree ToTree(const PodView& view);

// Returns "-" if there is no speed.
std::string SpeedText(const std::optional<Speed>& speed);

Tree ToTree(const std::vector<wire::EventAboutPod>& events);
// Returns a heading and a line per event; empty if there are none.
std::string EventsText(const std::vector<wire::EventAboutPod>& events, WallTime now);

}  // namespace synergy::cli
