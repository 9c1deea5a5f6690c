#pragma once

// Determines why containers of the node's managed pods, and of launchers without GPUs, ended, from
// their logs (failure/log_findings.h). It keeps only the line that shows the reason
// (docs/failures.md), for the controller.
//
//   watch -> queue, by namespace in turns -> the end of FOLDER/RUN.log -> EndedRun, for 15 minutes
//
// The cost of a log is bounded, whatever its pod writes. At most 512 KiB of it are read, one run at
// a time, and reading takes at most a tenth of a core. Namespaces are served in turns, so that the
// runs of one namespace do not delay those of others.
//
// Threading: the watch's thread calls Replace, Upsert and Remove; another one calls Step; any
// thread may call Report. Failures: a log that is gone, a link, or unreadable gives no report; the
// controller then judges by the pod's status alone.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cluster/state/pod_acts.h"
#include "core/clock.h"
#include "core/result.h"
#include "kube/reflector.h"
#include "profile/log_evidence.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

class FailureReader final : public kube::ObjectStore<wire::ResizeStatus> {
 public:
  static constexpr Duration kKept = std::chrono::minutes(15);
  static constexpr size_t kMostReports = 256;
  // The maximum number of waiting runs of one namespace; the oldest are dropped.
  static constexpr size_t kMostWaiting = 64;
  // The runtime may still write to a log some seconds after the container's end. So a log without a
  // finding is read again at this interval until kSettle after the run's end.
  static constexpr Duration kReadAgain = std::chrono::seconds(2);
  static constexpr Duration kSettle = std::chrono::seconds(8);

  // Reports of runs are delayed by this time, because the device plugin reports an Xid only within
  // about a second. A run reported before the Xid that ended it would be judged without the Xid.
  static constexpr Duration kXidDelay = std::chrono::seconds(2);

  // `log_folder`: where the kubelet keeps the logs of pods. `cpu_time`: returns the CPU time that
  // the calling thread has used. `acts`: those of this agent. References must outlive this object.
  FailureReader(std::string log_folder, std::function<Duration()> cpu_time, const PodActs& acts,
                const Clock& clock);

  void Replace(std::vector<wire::ResizeStatus> all) override;
  void Upsert(wire::ResizeStatus pod) override;
  void Remove(const wire::ResizeStatus& pod) override;

  // Reads the log of at most one run. Returns the delay until the next call.
  Duration Step();
  // Returns the runs of the last minutes whose logs were read at least kXidDelay ago, oldest first.
  std::vector<EndedRun> Report() const;

 private:
  using RunKey = std::tuple<std::string, std::string, int32_t>;  // uid, container, run

  // A run whose log has yet to be read.
  struct Ended {
    EndedRun run;
    std::string pod_namespace;
    std::string folder;  // of the container's logs
    Instant at{};
    Instant due{};
  };
  struct Watched {
    std::string pod_namespace;
    std::string name;
    std::string container;
    int32_t run = 0;
  };
  struct Reported {
    EndedRun run;
    Instant at{};
  };

  void Keep(const wire::ResizeStatus& pod);
  void Leave(const std::string& uid);
  void Enqueue(const std::string& uid, const Watched& pod, int32_t run);
  std::optional<Ended> TakeDue();
  void Forget();

  const std::string log_folder_;
  const std::function<Duration()> cpu_time_;
  const PodActs& acts_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Watched> watched_;            // by uid
  std::map<std::string, std::deque<Ended>> waiting_;  // by namespace
  std::string served_;                                // the namespace served last
  std::map<RunKey, Instant> taken_;                   // the times when runs were queued
  std::deque<Reported> reports_;
};

// Reads the end of a container's log file. Returns kNotFound if there is no file, kInvalid if it is
// a link or not a plain file, and kDenied or kUnavailable if it cannot be read.
Result<LogEvidence> ReadLogEnd(const std::string& file);

}  // namespace synergy::nodeagent
