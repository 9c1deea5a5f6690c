#pragma once

// Measures the progress of the node's managed trainings from their containers' logs
// (progress/log_progress.h), from a counter that a pod serves and names in an annotation, or from a
// file that it writes (progress_file.h). If the log contains no progress, the keeper estimates it
// from how busy the GPUs are. It also reads the CPU time and the memory use of the trainings.
//
// Threading: one thread calls FollowLogs and ReadFiles, another one ReadCounters; any thread may
// call Report. Failures: a failed read is counted, logged if it is new, and retried; a problem that
// the pod's author can fix becomes an event on the pod. If a pod's log takes more CPU time than
// kMostCpu in one look, the pod is skipped until its share of later looks has made up for the
// excess. The lines that the pod logs meanwhile are lost. Counters are read concurrently, and must
// answer within kMostWait.

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "inventory/gpu_busy.h"
#include "kube/apis/events.h"
#include "metrics/node_agent_metrics.h"
#include "nodeagent/cgroups/cpu_groups.h"
#include "nodeagent/cgroups/node_pods.h"
#include "nodeagent/memory/data_use.h"
#include "profile/pod_progress.h"

namespace synergy::nodeagent {

// Where the keeper gets data about pods.
struct ProgressSources {
  CpuGroups& cpu;
  DataUse& data;
  std::string log_folder;  // the kubelet's folder of pods' logs: "/var/log/pods"
  // The kubelet's folder of pods' volumes: "/var/lib/kubelet/pods"; empty: progress files are not
  // read.
  std::string pods_folder;
  // Gets a page of metrics, of at most a few MiB, within a few seconds.
  std::function<Result<std::string>(const std::string& ip, uint16_t port, const std::string& path,
                                    const std::stop_token& stop)>
      read_page;
  // Reads how busy the GPUs are, from the device plugin's report
  // (nodeagent/devices/gpu_busy_file.h) or from an exporter (nodeagent/gpus/gpu_facts.h); kNotFound
  // if there is neither.
  std::function<Result<NodeBusy>()> read_busy;
  // Returns the CPU time that the calling thread has used.
  std::function<Duration()> cpu_time = UsedByThisThread;
  // Returns how long the pod was suspended since the agent's first look.
  std::function<Duration(const std::string& uid)> time_suspended = [](const std::string&) {
    return Duration::zero();
  };

  static Duration UsedByThisThread();
};

class ProgressKeeper {
 public:
  static constexpr Duration kMostCpu = std::chrono::milliseconds(20);
  static constexpr Duration kMostWait = std::chrono::seconds(5);

  // References must outlive the keeper.
  ProgressKeeper(const NodePods& pods, ProgressSources sources, const Clock& clock, Logger& log,
                 kube::EventRecorder& events, metrics::NodeAgentMetrics& metrics);
  ~ProgressKeeper();

  // Look once at each pod's log, file or counter.
  void FollowLogs();
  void ReadFiles();
  void ReadCounters(const std::stop_token& stop);

  // `probes`: those in progress, by uid.
  NodeProgress Report(std::string node,
                      const std::map<std::string, ProbeReading>& probes = {}) const;

 private:
  struct Reported;
  struct Followed;
  struct Counted;
  struct FreshBusy {
    NodeBusy busy;
    Moment at;  // of its `at`
  };

  // Where a pod's progress is read; each pod has one source.
  enum class Source { kLog, kFile, kCounter };

  // Returns the container whose progress is read from `source`; null if there is none.
  const wire::ResizeStatus::Container* Measured(const wire::ResizeStatus& pod, Source source) const;
  // Reports once that the pod's file is not read on this node.
  void ReportUnreadFile(const wire::ResizeStatus& pod, Reported& reported);
  // Moves the pod's state from `from` to `to`, and returns it; starts at zero if its source has
  // changed.
  Counted& Keep(const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container,
                std::map<std::string, Counted>& from, std::map<std::string, Counted>& to);
  void ReadFile(const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container,
                Counted& counted);
  // Reports that the pod's log could not be read.
  void ReportLog(const wire::ResizeStatus& pod, Reported& reported, const Error& error);
  void Follow(const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container,
              const std::optional<FreshBusy>& busy, Followed& followed);
  // Returns how busy the GPUs are; nullopt if there is no report, or it is too old.
  std::optional<FreshBusy> ReadFreshBusy();
  // Reads the pod's log until the log's share of CPU time is used up.
  Result<size_t> ReadLog(const wire::ResizeStatus& pod, Followed& followed);
  // Gets the pages of the pods that name a counter and have an address, by uid.
  std::map<std::string, Result<std::string>> ReadPages(const std::vector<PodPointer>& pods,
                                                       const std::stop_token& stop) const;
  // `page`: null if none was requested.
  void Count(const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container,
             const Result<std::string>* page, Counted& counted);
  void ReadCpu(const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container,
               Reported& reported);
  // Reads the memory use periodically if the pod reports progress.
  void ReadMemory(const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container,
                  const SharedStorage& shared, Reported& reported);
  // `pods_fault`: whether the pod's author can fix it.
  void Report(const wire::ResizeStatus& pod, Reported& reported, std::string_view reason,
              const std::string& message, bool pods_fault);
  template <class Kept>
  void Publish(const std::map<std::string, Kept>& kept, std::map<std::string, PodProgress>& known);

  const NodePods& pods_;
  const ProgressSources sources_;
  const Clock& clock_;
  Logger& log_;
  kube::EventRecorder& events_;
  metrics::NodeAgentMetrics& metrics_;
  const WallTime since_;

  // By UID. Only the thread that reads the source uses each of these.
  std::map<std::string, Followed> followed_;
  std::map<std::string, Counted> by_file_;
  std::map<std::string, Counted> counted_;
  // Only the thread that follows logs uses these.
  std::string busy_problem_;
  Moment busy_at_{};  // of the newest report

  mutable std::mutex mutex_;
  std::map<std::string, PodProgress> by_logs_;  // by uid
  std::map<std::string, PodProgress> by_files_;
  std::map<std::string, PodProgress> by_counters_;
};

}  // namespace synergy::nodeagent
