#pragma once

// Keeps the latest answer of each node agent about ended runs of containers and about Xids of their
// GPUs.
//
// Threading: any thread.

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "profile/log_evidence.h"
#include "profile/pod_xid.h"

namespace synergy::controller {

class FailureReports {
 public:
  static constexpr Duration kKept = std::chrono::minutes(15);
  // Limits the runs, and the Xids, of one answer. Agents report fewer; further ones are ignored.
  static constexpr size_t kMostOfNode = 256;
  static constexpr size_t kMostActs = 16;  // per run

  // `kept`: false if nothing reads the reports.
  explicit FailureReports(bool kept = true) : kept_(kept) {}

  // Drops runs whose names are impossible. `node`: where the agent runs, according to the API
  // server.
  void Observe(const std::string& node, std::vector<EndedRun> runs, Instant now,
               std::vector<PodXid> xids = {});
  // Returns what the agent of that node reports about the run.
  std::optional<EndedRun> Of(const std::string& node, const std::string& uid,
                             const std::string& container, int32_t run) const;
  // Returns the Xids that the agent of that node reports for the container's GPUs.
  std::vector<PodXid> XidsOf(const std::string& node, const std::string& uid,
                             const std::string& container) const;
  // Returns the reports by node, without those that are too old.
  std::map<std::string, std::vector<EndedRun>> All(Instant now);
  // Returns how many nodes' answers are kept.
  size_t size() const;

 private:
  struct Answer {
    std::vector<EndedRun> runs;
    std::vector<PodXid> xids;
    Instant at{};
  };

  // REQUIRES: the mutex is held. Drops old answers, because nodes may be gone, and replicas that do
  // not act never read the answers.
  void Forget(Instant now);

  const bool kept_;
  mutable std::mutex mutex_;
  Instant forgot_ = Instant::min();
  std::map<std::string, Answer> answers_;  // by node
};

}  // namespace synergy::controller
