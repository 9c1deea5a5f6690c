#pragma once

// An API server of jobs, Workloads, queues and namespaces, as far as retries are concerned.
//
// Threading: one owner.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/apis/failures/retry_api.h"

namespace synergy::controller {

class FakeRetryApi final : public kube::RetryApi {
 public:
  Result<wire::StoppableJob> ReadJob(const std::string&, const ObjectOwner& job,
                                     std::stop_token) override {
    ++reads;
    if (error) return Fail(*error);
    const auto found = jobs.find(job.name);
    if (found == jobs.end()) return Fail(ErrorCode::kNotFound, "none");
    return found->second;
  }
  Result<std::vector<wire::StoppableJob>> ReadWorkloads(const std::string&, const std::string& uid,
                                                        std::stop_token) override {
    ++reads;
    if (error) return Fail(*error);
    std::vector<wire::StoppableJob> found;
    for (const auto& [name, job] : jobs) {
      if (job.kind == wire::kWorkloadKind && job.owner.uid == uid) found.push_back(job);
    }
    return found;
  }
  Result<std::optional<std::string>> ReadQueue(const std::string&, const std::string& queue,
                                               std::stop_token) override {
    return Annotation("queue " + queue);
  }
  Result<std::optional<std::string>> ReadNamespace(const std::string& name,
                                                   std::stop_token) override {
    return Annotation(name);
  }
  Result<> Stop(const wire::StoppableJob& job, const std::string& decision,
                std::stop_token) override {
    if (on_stop) on_stop();
    if (stop_error && (refused.empty() || refused == job.name)) return Fail(*stop_error);
    wire::StoppableJob& known = jobs[job.name];
    known.stopped = true;
    known.stopped_for = decision;
    stopped.push_back(job.kind + " " + job.name);
    return {};
  }

  Result<PublishedAvoidedNodes> ReadAvoidedNodes(std::stop_token) override {
    ++avoided_reads;
    if (avoided_error) return Fail(*avoided_error);
    if (!avoided) return Fail(ErrorCode::kNotFound, "none");
    return *avoided;
  }
  Result<PublishedAvoidedNodes> WriteAvoidedNodes(const PublishedAvoidedNodes& nodes,
                                                  std::stop_token) override {
    if (avoided_error) return Fail(*avoided_error);
    if (nodes.resource_version != (avoided ? avoided->resource_version : ""))
      return Fail(avoided ? ErrorCode::kConflict : ErrorCode::kNotFound, "another version");
    ++avoided_writes;
    avoided = {std::to_string(avoided_writes), nodes.nodes};
    if (answers_are_lost) return Fail(ErrorCode::kTimeout, "no answer");
    return *avoided;
  }

  std::map<std::string, wire::StoppableJob> jobs;  // and Workloads, by name
  std::map<std::string, std::string> annotations;  // of "queue NAME" and namespaces
  std::optional<Error> error;                      // of all reads
  std::optional<Error> stop_error;
  std::string refused;  // the only job for which stop_error counts; empty: all
  std::function<void()> on_stop;
  int reads = 0;
  std::vector<std::string> stopped;              // "Job bert"
  std::optional<PublishedAvoidedNodes> avoided;  // the ConfigMap; none: it does not exist
  std::optional<Error> avoided_error;            // of its reads and writes
  bool answers_are_lost = false;                 // of its writes
  int avoided_reads = 0;
  int avoided_writes = 0;

 private:
  Result<std::optional<std::string>> Annotation(const std::string& of) {
    ++reads;
    if (error) return Fail(*error);
    const auto found = annotations.find(of);
    if (found == annotations.end()) return std::nullopt;
    return found->second;
  }
};

}  // namespace synergy::controller
