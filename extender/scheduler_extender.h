#pragma once

// The extender's four verbs. Each takes the JSON text of a request and returns that of the answer
// (k8s.io/kube-scheduler/extender/v1). docs/internals/extender.md describes how each one decides.
//
// Threading: any thread may call any verb, concurrently. Only Bind calls the API server. Failures:
// verbs never throw; an answer of {"Error": ...} reports what is wrong with the request.

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "allocation/asked_nodes.h"
#include "allocation/best_fit.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "engine/decisions.h"
#include "extender/binding/binder.h"
#include "extender/calls.h"
#include "extender/delays.h"
#include "extender/gangs/shared_gangs.h"
#include "extender/nodes/elsewhere.h"
#include "extender/nodes/node_storage.h"
#include "extender/nodes/reserved_gpus.h"
#include "kube/succeeded_members.h"
#include "metrics/extender_metrics.h"
#include "wire/extender/extender_messages.h"
#include "wire/objects/objects.h"

namespace synergy::extender {

class FilterCall;

// Access to the watches that keep the extender's copy of the cluster.
struct Watches {
  // Returns whether all objects have been listed and no watch is broken. Otherwise unknown pods
  // make nodes look free.
  std::function<bool()> current = [] { return true; };
  // Waits a moment for the watches to catch up, because kube-scheduler may have received a change
  // earlier than the extender.
  std::function<void()> catch_up = [] {};
  // The time for which a pod is answered with errors because the watches are late, so that
  // kube-scheduler retries it; zero: never. kube-scheduler pauses for at most 10 s between retries.
  Duration longest_late = {};
};

struct PlacementRules {
  ReserveRule reserve;
  // How much worse than the best a place may be (Ranking::GivePoints()), so that a pod's own
  // preferences can decide.
  double slack = 0;
  std::chrono::milliseconds expect_timeout = std::chrono::seconds(3);
  // Whether to rank all nodes equally, and neither bind nor evict (shadow.h).
  bool shadow = false;
  GangTimes gangs;
  LocalityRules locality = {};
};

class SchedulerExtender {
 public:
  // All references must outlive the extender.
  SchedulerExtender(ClusterState& state, Binder& binder, const wire::ObjectReader& reader,
                    PlacementRules rules, const Clock& clock, Logger& log,
                    metrics::ExtenderMetrics& metrics, Watches watches = {});

  // Writes every decision about a GPU pod to `journal`, after the answer is made. Call it once,
  // before the verbs; `journal` must outlive them, and any thread writes to it.
  void SetJournal(DecisionJournal* journal) { journal_ = journal; }

  // Sets how to count the Succeeded members of a gang that stays incomplete for long. Call it once,
  // before the verbs.
  void SetCountSucceeded(kube::CountSucceeded count) { count_succeeded_ = std::move(count); }

  // Sets the GPU reservations to respect. Call it once, before the verbs; `reserved` must outlive
  // them.
  void SetReserved(const ReservedGpus* reserved) { reserved_ = reserved; }

  // Sets the nodes that pods avoid. Call it once, before the verbs; `elsewhere` must outlive them.
  void SetElsewhere(const Elsewhere* elsewhere) { elsewhere_ = elsewhere; }

  // Sets what is known about storage. Call it once, before the verbs; `storage` must outlive them.
  void SetStorage(const NodeStorage* storage) { storage_ = storage; }

  std::string Filter(std::string_view body);
  std::string Prioritize(std::string_view body);
  std::string Bind(std::string_view body);
  std::string Preempt(std::string_view body);

  // Does the periodic work for gangs. Call it about once a second.
  void Look();
  // Returns the places held for gangs.
  SharedGangs& gangs() { return gangs_; }

 private:
  std::string Reject(metrics::Verb verb, const Error& error);
  // Returns an error if GPU pods cannot be placed with the present copy of the cluster. At the
  // first success, resumes the gangs that an earlier extender has bound in part.
  Result<> Ready();
  // Returns whether the extender leaves the choice of the pod's node to kube-scheduler.
  bool LeavesAlone(const Pod& pod) const {
    return shadow_ || !(pod.UsesGpus() || pod.SharesGpus());
  }
  // Sets the GPUs that the request's pod has through ResourceClaims. Returns kUnavailable if the
  // watch has not reported one of the claims although kube-scheduler has seen it.
  Result<> CountDevices(Pod& pod) const;
  // Looks for room for a pod that fits nowhere: waits for a late watch, and releases places held
  // for gangs and lost members if these yield to the pod. Returns the answer if it is an error,
  // after which kube-scheduler retries.
  std::optional<std::string> SeekRoom(FilterCall& call);
  // Releases places of lost members for the pod, or names them in the nodes' refusals. Returns an
  // answer as SeekRoom() does.
  std::optional<std::string> ReleaseReplacements(FilterCall& call,
                                                 const std::vector<Reservation>& places);
  // Returns the filter's answer for a member of a gang.
  std::string FilterMember(const wire::ExtenderArgs& args);
  // Returns the terms that decide whether the pod may go to reserved GPUs; nullopt if none are
  // reserved.
  std::optional<PassingTerms> TermsFor(const wire::ExtenderArgs& args) const;
  NodeSet AvoidedBy(const Pod& pod) const;
  // Returns the position in `asked` of a node on which kube-scheduler counts room because of a
  // change that the watches have not reported yet. Returns nullopt if there is none, or if the
  // watches have been late for too long. `places`: those that are held for replacements.
  std::optional<size_t> LateNode(const Pod& pod, const AskedNodes& asked,
                                 const std::vector<Reservation>& places);
  // Returns an error, after which kube-scheduler retries. A refused pod would wait for the next
  // change of the cluster, or five minutes.
  std::string AskAgain(std::string_view reason, std::string_view node);
  void Expect(const Pod& pod, NodeIndex node);

  ClusterState& state_;
  Binder& binder_;
  const wire::ObjectReader& reader_;
  const ReserveRule reserve_;
  const double slack_;
  const std::chrono::milliseconds expect_timeout_;
  const bool shadow_;
  const Clock& clock_;
  Logger& log_;
  metrics::ExtenderMetrics& metrics_;
  const Watches watches_;
  SharedWait late_watch_;
  SharedGangs gangs_;
  std::once_flag resumed_;
  RequestIds ids_;
  SharedWait preemption_delay_{PreemptionDelay()};
  RetryLimiter retries_;
  kube::CountSucceeded count_succeeded_;
  DecisionJournal* journal_ = nullptr;
  const ReservedGpus* reserved_ = nullptr;  // null: there are none
  const Elsewhere* elsewhere_ = nullptr;    // null: no nodes are avoided
  const NodeStorage* storage_ = nullptr;    // null: storage does not count
};

}  // namespace synergy::extender
