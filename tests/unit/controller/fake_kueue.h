#pragma once

// Acts as Kueue, kube-scheduler and the kubelet behind kube::RoundApi: an in-memory cluster that
// carries out every write at once.
//
//   FakeKueue kueue{objects, state, clock};
//   driver.Step({});
//   EXPECT_THAT(kueue.written, ElementsAre("a 0 -> 1"));
//
// If a workload's check is Ready, the workload runs on the product that the answer names, on the
// node of the same name. If the check says Retry, the workload is evicted, and gets its quota back
// a moment later. When a job's number of workers changes, the job gets another workload.
//
// Threading: one thread. REQUIRES: the references outlive it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "controller/queues/queue_stores.h"
#include "core/clock.h"
#include "core/result.h"
#include "kube/apis/round_api.h"

namespace synergy::controller {

class FakeKueue final : public kube::RoundApi {
 public:
  FakeKueue(QueueStores& objects, ClusterState& state, const Clock& clock)
      : objects_(objects), state_(state), clock_(clock) {}

  // Every requested write, even if it failed.
  std::vector<std::string> written;    // "a 0 -> 1", "a served 300", "job-a 4 -> 3 workers"
  std::vector<std::string> answers;    // "a Ready V100"
  std::vector<std::string> activated;  // names of checks
  std::map<std::string, RoundPolicyStatus> statuses;
  int replaced = 0;  // number of replaced workloads

  std::optional<Error> failure;  // fails all writes except those of checks
  std::string refused;           // name of a job whose workers cannot be changed
  bool conflicts = false;        // makes answers fail with a conflict
  bool shows = true;             // whether the watch reports bands, notes and statuses

  // Changes the workload as another client would.
  void Put(Workload workload);
  // Starts the workload's first pod.
  void Run(const Workload& workload, const std::string& node);
  void Stop(const Workload& workload);

  Result<> WritePriority(const Workload& workload, int64_t priority,
                         const std::optional<RoundNote>& note, std::stop_token) override;
  Result<> WriteNote(const Workload& workload, const RoundNote& note, std::stop_token) override;
  Result<> WriteWorkers(const QueuedJob& job, int64_t workers, std::stop_token) override;
  Result<> AnswerCheck(const Workload& workload, size_t check, const CheckAnswer& answer,
                       std::stop_token) override;
  Result<> ActivateCheck(const AdmissionCheck& check, WallTime, std::stop_token) override;
  Result<> WriteStatus(const RoundPolicy& policy, const RoundPolicyStatus& status,
                       std::stop_token) override;

 private:
  void Show(const Workload& workload, int64_t priority, const std::optional<RoundNote>& note);

  QueueStores& objects_;
  ClusterState& state_;
  const Clock& clock_;
};

}  // namespace synergy::controller
