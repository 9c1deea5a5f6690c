#pragma once

// What the commands read from the API server, with the user's own rights: what those do not allow
// is left out and said in `notes`.
//
// Threading: values; the functions make calls one after the other.
// Failures: as kube::ApiClient says, for what a command cannot do without.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster/progress.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "profile/profile_object.h"
#include "wire/objects/device_health.h"
#include "wire/objects/objects.h"

namespace synergy::cli {

// TrainingProfiles by namespace and name.
class Profiles {
 public:
  Profiles() = default;
  explicit Profiles(std::vector<ProfileObject> objects);

  const ProfileObject* Find(const std::string& profile_namespace, const std::string& name) const;
  // That which the pod was admitted with, for the pod's GPUs; null: none, or it makes no sense.
  std::shared_ptr<const JobProfile> Of(const Pod& pod) const;
  const std::map<std::pair<std::string, std::string>, ProfileObject>& all() const { return all_; }

 private:
  std::map<std::pair<std::string, std::string>, ProfileObject> all_;
};

struct PodFacts {
  Pod pod;
  std::vector<wire::UnhealthyDevice> unhealthy_devices;
  Profiles profiles;                               // the pod's namespace's
  std::vector<wire::EventAboutPod> events;         // about it, the oldest first
  std::shared_ptr<const ClusterSnapshot> cluster;  // null: not allowed to see
  ProgressFacts progress;
  std::vector<std::string> notes;
};

struct ClusterFacts {
  std::vector<Pod> pods;  // with GPUs, by namespace and name
  Profiles profiles;
  std::shared_ptr<const ClusterSnapshot> cluster;  // null: not asked for
  ProgressFacts progress;
  std::vector<std::string> notes;
};

class FactsReader {
 public:
  // Both outlive this.
  FactsReader(kube::ApiClient& client, const wire::ObjectReader& reader)
      : client_(client), reader_(reader) {}

  Result<PodFacts> ReadPod(const std::string& pod_namespace, const std::string& name);
  // Of one namespace, or of all where it is empty.
  Result<ClusterFacts> ReadPods(const std::string& pod_namespace);
  // With all nodes and all that is on them.
  Result<ClusterFacts> ReadCluster();
  Result<Profiles> ReadProfiles(const std::string& profile_namespace);
  // About the object of that UID, the oldest first.
  Result<std::vector<wire::EventAboutPod>> ReadEvents(const std::string& object_namespace,
                                                      const std::string& uid);

 private:
  Result<std::shared_ptr<const ClusterSnapshot>> Snapshot(std::vector<Pod> pods);
  Result<std::vector<Pod>> Pods(const std::string& pod_namespace);

  kube::ApiClient& client_;
  const wire::ObjectReader& reader_;
};

}  // namespace synergy::cli
