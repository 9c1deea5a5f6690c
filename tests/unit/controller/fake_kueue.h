#pragma once

// Kueue, kube-scheduler and the kubelet in one, behind kube::RoundApi: an in-memory cluster that
// carries out every write at once.
//
//   FakeKueue kueue{objects, state, clock};
//   driver.Step({});
//   EXPECT_THAT(kueue.written, ElementsAre("a 0 -> 1"));
//
// A workload whose check is Ready runs on the product that the answer names, on the node of that
// name. A workload whose check says Retry is evicted, and has its quota back a moment later. A job
// whose workers change gets another workload.
//
// Threading: one thread. References outlive it.

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

  // Every requested write, whether or not it failed.
  std::vector<std::string> written;    // "a 0 -> 1", "a served 300", "job-a 4 -> 3 workers"
  std::vector<std::string> answers;    // "a Ready V100"
  std::vector<std::string> activated;  // checks
  std::map<std::string, RoundPolicyStatus> statuses;
  int replaced = 0;  // workloads

  std::optional<Error> failure;  // of all writes but those of checks
  std::string refused;           // a job whose workers cannot be changed
  bool conflicts = false;        // fails answers with a conflict
  bool shows = true;             // whether the watch reports bands, notes and statuses

  // Changes the workload as another client would.
  void Put(Workload workload);
  // Starts its first pod.
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
