#pragma once

// Turns the jobs that a Kubernetes cluster has run into a trace. It reads lists of Jobs, of Kueue's
// Workloads and of pods, as printed by `kubectl get jobs,workloads,pods -A -o json`.
//
// A job of the trace is everything that one object runs at the same time. The object is a Job, a
// JobSet or TrainJob with its Jobs, a RayJob or MPIJob with its pods, or a single pod. A job's
// times come from Kueue's Workload; without one, from its Jobs; without these, from its pods. It
// starts with the first of its pods in the list. Its GPUs are the most that it had at any moment.
// Its model is the value of the label synergy.io/profile. Pods that serve until they are removed
// (of Deployments, DaemonSets) are omitted.
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
  // The period of the trace: jobs that ended before it are omitted, and those that still run end
  // with it.
  struct Period {
    Seconds end{};  // since 1970
    Seconds length{};
  };

  explicit KubernetesTrace(std::string gpu_resource) : gpu_resource_(std::move(gpu_resource)) {}

  // Adds the objects of a list, of one page of it, or of an array, or a single object. Returns the
  // token of the next page, empty after the last one. Returns kInvalid if `text` has none of these
  // forms, or if a time or number cannot be read.
  Result<std::string> Add(std::string_view text);

  // Returns the trace. Without a period all jobs count, and running jobs end at the latest time in
  // the lists. `name` is the lists' name in errors. Returns kNotFound if no job is left.
  Result<RecordedTrace> Finish(std::string_view name, std::optional<Period> period) const;

 private:
  // A job uses the first of these sources that it has.
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
  int64_t GpusOf(json::Value pod_spec);
  // Returns `otherwise` if the number is missing, or is rejected.
  int64_t CountOf(json::Value number, int64_t otherwise);
  // Keeps the first value that cannot be read.
  void Reject(json::Value value, std::string_view cure);
  std::optional<Seconds> TimeOf(json::Value text);
  // Returns the UID of the outermost object to which this one belongs.
  std::string WholeOf(const std::string& uid) const;
  static void StartWithPods(std::vector<Object>& parts);
  static RecordedRow RowOf(const std::vector<Object>& parts, Seconds end);

  std::string gpu_resource_;
  std::map<std::string, Object> objects_;      // by UID
  std::map<std::string, std::string> owners_;  // UID of a part to UID of its whole
  size_t services_ = 0;
  json::Value root_;  // the present page
  std::optional<Error> error_;
  Seconds latest_{};
};

}  // namespace synergy::cli
