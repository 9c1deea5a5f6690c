#pragma once

// Changes of pods' CPU and memory from the announcement to the day that the kubelet has made them.
//
//   cut:     resize -> record (annotation) ------------------------------> in force: done
//   growth:  announce (annotation) -> settle, look again: room? -> resize -> in force: done
//                                         no: withdraw             |
//                                                                  +- refused, deferred, too late:
//                                                                     put back
//
// A growth is announced and waits for a moment because the extender may be binding a pod into the
// same room: it counts what has been announced as taken, so that after a moment either its bind is
// to be seen, and the growth is withdrawn, or it will not come. A cut needs no such care, and is
// recorded afterwards: a kubelet that has just looked at a pod, because of an annotation for
// instance, makes a resize up to a second later (docs/tuner.md). But for a pod that waits, whose
// announcement is what the resize holds on to.
//
// All that has to survive this process is on the pods. What a predecessor left half done is taken
// over (Adopt).
//
// Threading: one owner at a time.
// Failures: of a call: the change is given up, logged and counted; the next round tries again.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster_state.h"
#include "cluster/fungible.h"
#include "cluster/pod.h"
#include "core/clock.h"
#include "core/log.h"
#include "json/objects.h"
#include "kube/api_client.h"
#include "kube/events.h"
#include "metrics/tuner_metrics.h"

namespace synergy::controller {

struct PodChangeOptions {
  Duration settle = std::chrono::seconds(1);
  // How long the kubelet, with the node agent's help, may take.
  Duration patience = std::chrono::seconds(30);
  // The kubelet looks again at a cut of memory that it could not make after 10 to 15 s, or when
  // the pod changes (measured, docs/node-agent.md): so it is reminded.
  Duration nudge = std::chrono::seconds(2);
  // How long a pod is left alone whose memory could not be cut.
  Duration unshrinkable = std::chrono::minutes(10);
};

class PodChanges {
 public:
  // All references outlive this.
  PodChanges(ClusterState& state, kube::ApiClient& client, const json::ObjectReader& reader,
             kube::EventRecorder& events, const Clock& clock, Logger& log,
             metrics::TunerMetrics& metrics, PodChangeOptions options);

  // Whether the change is under way now. `pod` is fungible, and nothing is under way for it.
  bool Cut(const Pod& pod, const ResourceVector& to, ChangeKind kind, std::string why);
  bool Grow(const Pod& pod, const ResourceVector& to, std::string why);
  // For a pod that is between two states, or whose amounts nobody has recorded, and has nothing
  // under way here.
  void Adopt(const Pod& pod);

  bool UnderWay(const std::string& uid) const { return changes_.contains(uid); }
  bool UnderWayOn(const std::string& node) const;
  size_t size() const { return changes_.size(); }

  // Looks after what is under way. To be called several times a second.
  void Advance();

  // Forgets what is under way; it goes on by itself, and what does not end is taken over later.
  void Forget() { changes_.clear(); }

  struct Outcome {
    std::string uid;
    std::string node;
    ChangeKind kind = ChangeKind::kGrown;
    bool made = false;
  };
  // What has ended since the last call.
  std::vector<Outcome> TakeOutcomes();

 private:
  struct Change {
    std::string node;
    ChangeRecord record;
    std::optional<ChangeRecord> before;  // what the pod said until then
    bool made = false;                   // the API server has taken the resize
    Instant due{};                       // when a growth is made; made: when patience ends
    Instant nudge{};                     // when the kubelet is reminded
  };

  // Writes the record on the pod: a growth's before it is made, a cut's after. The pod as it is
  // then.
  std::optional<Pod> Record(const Pod& pod, const ChangeRecord& record);
  // The pod as it is then.
  std::optional<Pod> Make(const Pod& pod, Change& change);
  void Withdraw(const Pod& pod, const Change& change);
  void PutBack(const Pod& pod, const Change& change, std::string_view reason);
  // Whether it has ended, and how.
  std::optional<bool> AdvanceOne(const Pod& pod, Change& change);
  void Nudge(const Pod& pod, Change& change);
  void Tell(const Pod& pod, const ChangeRecord& record);

  ClusterState& state_;
  kube::ApiClient& client_;
  const json::ObjectReader& reader_;
  kube::EventRecorder& events_;
  const Clock& clock_;
  Logger& log_;
  metrics::TunerMetrics& metrics_;
  const PodChangeOptions options_;
  std::map<std::string, Change> changes_;  // by the pod's uid
  std::vector<Outcome> outcomes_;
};

}  // namespace synergy::controller
