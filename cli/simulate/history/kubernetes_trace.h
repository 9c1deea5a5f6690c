#pragma once

// The jobs that a Kubernetes cluster has run, as a trace. Reads lists of Jobs, of Kueue's Workloads
// and of pods, as `kubectl get jobs,workloads,pods -A -o json` prints them.
//
// A job of the trace is what one object runs at the same time: a Job, a JobSet or TrainJob with its
// Jobs, a RayJob or MPIJob with its pods, or a pod of its own. Its times are those of Kueue's
// Workload; without one, of its Jobs; without these, of its pods. Its GPUs are the most that it had
// at one moment. Its model is the label synergy.io/profile. Pods that serve until they are removed
// (of Deployments, DaemonSets) are left out.
//
// Threading: one owner.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "json/document.h"
#include "sim/traces/recorded_trace.h"
#include "sim/traces/trace_builder.h"

namespace synergy::cli {

class KubernetesTrace {
 public:
  // Jobs that ended before it are left out; those that still run do so until its end.
  struct Period {
    Seconds end{};  // since 1970
    Seconds length{};
  };

  explicit KubernetesTrace(std::string gpu_resource) : gpu_resource_(std::move(gpu_resource)) {}

  // Adds the objects of a list, or of one page of it. Returns the token of the next page, which is
  // empty after the last. kInvalid: `text` is not a list of Kubernetes.
  Result<std::string> Add(std::string_view text);

  // Returns the trace. Without a period all jobs count, and the latest time in the lists is the end
  // of those that still run. `name` stands for the lists in errors. kNotFound: no job is left.
  Result<RecordedTrace> Finish(std::string_view name, std::optional<Period> period) const;

 private:
  // The first that a job has is its source.
  enum class Source : uint8_t { kWorkload, kJob, kPod };
  struct Object {
    Source source = Source::kPod;
    std::string model;
    std::optional<Seconds> submitted;
    std::optional<Seconds> started;
    std::optional<Seconds> ended;
    int64_t gpus = 0;
  };

  void AddObject(std::string_view kind, json::Value item);
  void Link(std::string_view kind, const std::string& uid, json::Value item);
  Object ReadWorkload(json::Value item);
  Object ReadJob(json::Value item);
  Object ReadPod(json::Value item);
  int64_t GpusOf(json::Value pod_spec) const;
  std::optional<Seconds> TimeOf(json::Value text);
  // Returns the UID of the outermost object that this one is a part of.
  std::string WholeOf(const std::string& uid) const;
  static RecordedRow RowOf(const std::vector<Object>& parts, Seconds end);

  std::string gpu_resource_;
  std::map<std::string, Object> objects_;      // by UID
  std::map<std::string, std::string> owners_;  // UID of a part -> of what it is a part of
  size_t services_ = 0;
  Seconds latest_{};
};

}  // namespace synergy::cli
