#pragma once

// Determines the gang size of a pod under creation if the pod's owner defines it
// (wire/kueue/gang_owner.h). One read, bounded in time, serves all pods of an owner that arrive
// together.
//
// A size that was read is valid for two seconds, because a suspended Job may be changed before it
// is resumed. It is never valid for another owner with the same name that is created meanwhile. If
// the owner cannot be read, the gang has the size that was read within the last minute, or the one
// recorded on its living members. Without either, pods that arrive within the next minute belong to
// no gang. Otherwise only some of them might get a size, and wait forever for the others.
//
// Pods created earlier (by another version, or while the controller was down) carry no size. So if
// an owner already has pods and none of them is known to carry its size, its new pods get no gang.
// Kubernetes' PodGroups do not report whether they have pods, so only their known living members
// count.
//
// Threading: any thread; each call may wait for one read.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "admission/pod_to_admit.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"
#include "metrics/controller_metrics.h"
#include "wire/kueue/gang_owner.h"

namespace synergy::controller {

struct ResolvedGang {
  int32_t size = 1;          // 1: no gang
  bool overrules = false;    // ignore the size on the pod itself
  std::string name = {};     // the gang's name if the pod needs it as a label; otherwise empty
  std::string within = {};   // requested topology domain of the gang (wire/kueue/gang_owner.h)
  std::string warning = {};  // for the pod's creator; empty: none
};

class GangOwners {
 public:
  static constexpr Duration kGood = std::chrono::seconds(2);
  static constexpr Duration kFailed = std::chrono::seconds(60);
  static constexpr Duration kRemembered = std::chrono::minutes(10);  // keeps an owner's last answer
  static constexpr size_t kMostKept = 4096;

  // The default time limit for a review's reads: the API server waits three seconds for a review
  // (webhook.yaml).
  static constexpr Duration kReads = std::chrono::seconds(2);

  // `gpus_of_template`: null if GPUs by claims do not count. All references must outlive this
  // object.
  GangOwners(kube::ApiClient& client, const ClusterState& state, std::string gpu_resource,
             const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics,
             GpusOfTemplate gpus_of_template = nullptr);

  // `within`: the time limit for all reads together.
  ResolvedGang SizeFor(const PodToAdmit& pod, Duration within = kReads);

 private:
  struct Answer {
    bool done = false;
    bool missing = false;  // the object does not exist
    wire::GangSize gang;
    std::string failure;  // empty: none
    Instant until{};
    Instant read{};  // when `gang` was read

    // Returns whether pods may have been created with this answer within the last minute.
    bool IsRemembered(Instant now) const {
      return done && failure.empty() && !missing && now < read + kFailed;
    }
  };

  // `end`: when the time for reads ends.
  ResolvedGang SizeByOwner(const PodToAdmit& pod, Instant end);
  static ResolvedGang InStages(const wire::GangOwner& set);
  ResolvedGang SizeByGroup(const wire::GangOwner& group, const wire::GangSize& gang) const;
  // Returns the answer after a failed read of `owner`.
  ResolvedGang WithoutRead(const wire::GangOwner& owner, const std::string& failure) const;
  Answer Ask(const PodToAdmit& pod, const wire::GangOwner& owner, Instant end);
  Answer Read(const std::string& its_namespace, const wire::GangOwner& owner, Instant end);
  void Forget(Instant now);
  // Returns the size that living members carry; 1 if there are none.
  int32_t SizeOfMembers(const std::string& gang) const;

  kube::ApiClient& client_;
  const ClusterState& state_;
  const std::string gpu_resource_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;
  const GpusOfTemplate gpus_of_template_;

  std::mutex mutex_;
  std::condition_variable answered_;
  std::map<std::string, Answer> answers_;      // by path, the pod's owner, replicas, gang, group
  std::map<std::string, Instant> unreadable_;  // gangs, and until when not to read them
};

}  // namespace synergy::controller
