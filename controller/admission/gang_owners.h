#pragma once

// How large the gang of a pod is that is being created, where its owner has to be asked
// (wire/kueue/gang_owner.h): one read for all pods of an owner that come together, bounded in time.
//
// An owner's word goes for two seconds: a suspended Job may be changed before it goes on. Where it
// cannot be read, the size that living members of the gang have goes, else the pods that come in
// the next minute are all no gang: half of them with a size would wait for the others for good.
//
// Pods of before (another version, a controller that was away) carry no size. So an owner that has
// pods, none of which is known to carry that size, gets no gang any more. Kubernetes' PodGroups do
// not say whether they have pods: there the living members that are known count alone.
//
// Threading: from any thread; each may wait for one read.

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

struct GangWord {
  int32_t size = 1;          // 1: no gang
  bool overrules = false;    // the pod says another size, which is not to count
  std::string name = {};     // of the gang, where the pod needs it as a label; else empty
  std::string within = {};   // what the gang has to be within (wire/kueue/gang_owner.h)
  std::string warning = {};  // for whoever creates the pod; empty: nothing
};

class GangOwners {
 public:
  static constexpr Duration kGood = std::chrono::seconds(2);
  static constexpr Duration kFailed = std::chrono::seconds(60);
  static constexpr Duration kRemembered = std::chrono::minutes(10);  // what an owner said last
  static constexpr size_t kMostKept = 4096;

  // All outlive this. `client` answers within the time that a review has.
  GangOwners(kube::ApiClient& client, const ClusterState& state, std::string gpu_resource,
             const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics);

  GangWord SizeFor(const PodToAdmit& pod);

 private:
  struct Answer {
    bool done = false;
    bool missing = false;  // there is no such object
    wire::GangSize gang;
    std::string failure;  // empty: none
    Instant until{};
  };

  GangWord SizeByOwner(const PodToAdmit& pod);
  static GangWord InStages(const wire::GangOwner& set);
  GangWord SizeByGroup(const wire::GangOwner& group, const wire::GangSize& gang) const;
  // After a read of that owner that failed.
  GangWord WithoutRead(const wire::GangOwner& owner, const std::string& failure) const;
  Answer Ask(const wire::GangOwner& owner);
  Answer Read(const wire::GangOwner& owner);
  void Forget(Instant now);
  // That living members carry; 1: none do.
  int32_t SizeOfMembers(const std::string& gang) const;

  kube::ApiClient& client_;
  const ClusterState& state_;
  const std::string gpu_resource_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;

  std::mutex mutex_;
  std::condition_variable answered_;
  std::map<std::string, Answer> answers_;      // by path, uid, replicas and gang
  std::map<std::string, Instant> unreadable_;  // gangs, until when
};

}  // namespace synergy::controller
