#pragma once

// A model of Kueue: ClusterQueues with a quota of GPUs per flavor, whose workloads are ordered by
// priority, then by creation. It admits, evicts and requeues workloads, and reports when to create
// and delete pods.
//
//   Create() --> waits --admitted--> has its quota --kStart--> its pods exist --Finish()--> gone
//                  ^                     | evicted, kStop, PodsGone()
//                  +---------------------+
//
// Jobs may be elastic: writing a job's workers changes the workload of a waiting job. A running job
// stops, and another workload with the same name replaces its own (docs/internals/optimus.md).
//
// In a queue with Synergy's admission check, a workload that has its quota starts once the check is
// Ready. It is evicted once the check is Retry (queues/kueue.h).
//
// The model follows these rules of Kueue (docs/internals/queues.md):
//   * The scheduler acts when a workload arrives, a waiting workload's priority changes, or quota
//     becomes free. It does not act when the priority of a running workload changes.
//   * It takes workloads in order. A workload that does not fit causes evictions of workloads of
//     lower priority if that makes room (withinClusterQueue: LowerPriority). Those behind it wait
//     meanwhile, because room is made for one workload at a time. Victims are the workloads of the
//     lowest priority, among equals those admitted last, and only as many as needed.
//   * A workload that does not fit and has no victims is skipped, except under StrictFIFO. Its
//     condition then shows that Kueue has tried it.
//   * An evicted workload keeps its quota until its last pod has ended. It then returns to its
//     place in the order.
//
// The model has no cohorts, borrowing, fair sharing, waitForPodsReady and its backoff, or amounts
// of other quotas (`admits` replaces them). Unlike Kueue 0.19, it does not remember shapes of
// workloads that did not fit.
//
// Threading: one owner. Pure: the caller passes the time.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/units.h"
#include "queues/planner/gpu_type_answers.h"
#include "queues/planner/queue_planner.h"
#include "queues/queue_objects.h"

namespace synergy {

// How long Kueue, the Job controller and the API server take. On a real cluster a GPU stands idle
// for 1.9 to 2.0 s between two trainings of one pod (docs/evidence/queues.md). The next pod's
// placement and start take 1.1 s of this (Latencies). The rest is divided among `release`,
// `schedule` and `start`. How long each of them takes on its own was not measured.
struct KueueDelays {
  Duration schedule = std::chrono::milliseconds(100);  // from the cause until the scheduler acts
  Duration stop = std::chrono::milliseconds(300);      // from an eviction until pods are deleted
  Duration release = std::chrono::milliseconds(400);   // from a job's last pod until its quota
  Duration start = std::chrono::milliseconds(400);     // from the admission until the pods exist
};

struct KueueQueue {
  std::string name;
  std::string local_queue;  // "team/q": its only LocalQueue
  // By flavor, in the order in which flavors are tried.
  std::vector<std::pair<std::string, Gpus>> quotas;
  std::string preemption = "LowerPriority";  // withinClusterQueue
  bool strict = false;                       // queueingStrategy: StrictFIFO
  bool checks_types = false;                 // it has the admission check of GPU types
  // Whether all but its GPUs admits a workload now: quotas of CPU and memory, taints of the flavor.
  // Null: always.
  std::function<bool(const Workload&)> admits = nullptr;
};

struct KueueAction {
  enum class Kind : uint8_t {
    kStart,  // create the workload's pods
    kStop,   // delete the workload's pods, and call PodsGone() when they have ended
  };

  Kind kind = Kind::kStart;
  std::string name;  // the workload's name
  // kStart: the GPU product that the admission check selects for the pods; empty: any.
  std::string product = {};
  int64_t pods = 0;  // kStart: how many
};

class KueueModel {
 public:
  explicit KueueModel(KueueDelays delays) : delays_(delays) {}

  void AddQueue(const KueueQueue& queue);
  void Put(const RoundPolicy& policy);
  void Remove(const RoundPolicy& policy);

  // Lets the controller change the number of workers of jobs.
  void AllowElastic() { objects_.elastic = true; }
  // Adds the job of the workload with the same name. It leaves with the workload.
  void PutJob(QueuedJob job);

  // Names identify workloads across namespaces; only writes refer to the UID.
  //
  // Adds a waiting workload. REQUIRES: its LocalQueue is known, and its name and UID are new.
  void Create(Workload workload, Moment at);
  // Reports the present state of a workload's pod.
  void PutPod(QueuedPod pod);
  void RemovePod(const std::string& uid);
  // Reports that all pods of a stopping workload have ended.
  void PodsGone(const std::string& name, Moment at);
  // Reports that the job is done, even if it never started. The workload leaves once its quota is
  // free.
  void Finish(const std::string& name, Moment at);

  // Does what is due, and returns the actions to take on pods. Call it at wake(), and after any of
  // the other calls if they made it due.
  std::vector<KueueAction> Run(Moment at);
  // Returns when Run() is due; Instant::max() if nothing is.
  Instant wake() const;

  // Makes the write as the API server would; kOutdated if the workload has changed since it was
  // read, or is gone.
  WriteOutcome Write(const WorkloadWrite& write, Moment at);
  WriteOutcome Write(const WorkersWrite& write, Moment at);
  // Answers the admission check. Its outcomes are those of Write().
  WriteOutcome Answer(const TypeAnswer& answer, Moment at);

  QueueObjects Objects() const;
  // Returns the workload; null once it has left.
  std::shared_ptr<const Workload> Find(const std::string& name) const;
  // Returns the GPUs of the ClusterQueue that are in use.
  Gpus Used(const std::string& queue) const;
  size_t size() const { return entries_.size(); }
  uint64_t evictions() const { return evictions_; }

 private:
  struct Queue {
    KueueQueue spec;
    std::map<std::string, Gpus> used;  // by flavor
    bool due = false;                  // the scheduler must act
  };
  struct Entry {
    std::shared_ptr<const Workload> object;
    std::string queue;
    std::string flavor;       // the flavor of its quota
    uint64_t admissions = 0;  // so far
    bool done = false;
    bool retries = false;   // evicted by the answer Retry
    int64_t workers = 0;    // workers of the workload that will replace it; 0: none will
    uint32_t replaced = 0;  // how often it was replaced
  };
  enum class Timer : uint8_t { kSchedule, kStart, kStop, kRelease };

  void SetTimer(Duration after, Timer timer, const std::string& name, uint64_t admission,
                Moment at);
  void WakeScheduler(const std::string& queue, Moment at);
  void Schedule(Queue& queue, Moment at);
  bool Admit(Queue& queue, Entry& entry, Moment at);
  // Returns whether room is being made for the workload.
  bool Preempt(Queue& queue, const Entry& entry, Moment at);
  // Returns the workloads to evict; empty if that makes no room.
  std::vector<Entry*> VictimsFor(const Queue& queue, const std::string& flavor, Gpus quota,
                                 const Workload& workload);
  void Evict(Entry& entry, Moment at);
  // Returns the workload's entry; null if it has changed since it was read, or is gone.
  Entry* FindAsRead(const Workload& workload);
  void Release(const std::string& name, Moment at);
  // Returns the workload that replaces the entry's.
  Workload ReplacementOf(Entry& entry, Moment at) const;
  void Store(Entry& entry, Workload changed);

  const KueueDelays delays_;
  std::map<std::string, Queue> queues_;
  std::map<std::string, std::string> local_queues_;  // "team/q" -> ClusterQueue
  std::map<std::string, Entry> entries_;             // by name
  // Time, a number that keeps their order, kind, queue or workload, and number of the admission.
  std::set<std::tuple<Instant, uint64_t, Timer, std::string, uint64_t>> timers_;
  uint64_t numbers_ = 0;
  uint64_t versions_ = 0;
  uint64_t evictions_ = 0;

  mutable QueueObjects objects_;
  ObjectMap<Workload>::Entries workloads_;  // by key
  ObjectMap<QueuedPod>::Entries pods_;
  mutable bool workloads_changed_ = false;  // since objects_ was made
  mutable bool pods_changed_ = false;
};

}  // namespace synergy
