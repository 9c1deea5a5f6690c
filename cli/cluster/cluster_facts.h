#pragma once

// Reads the objects that the commands show from the API server, with the user's own rights. It
// omits objects that those rights do not cover, and lists the omissions in `notes`.
//
// Threading: values; the functions make calls one after another. Failures: as in kube::ApiClient,
// for objects that a command needs.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster/progress.h"
#include "cluster/devices/device_objects.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_state.h"
#include "core/result.h"
#include "engine/reservations/published_reservation.h"
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
  // Returns the profile that the pod was admitted with, for the pod's GPUs; null if there is none,
  // or it is malformed.
  std::shared_ptr<const JobProfile> Of(const Pod& pod) const;
  const std::map<std::pair<std::string, std::string>, ProfileObject>& all() const { return all_; }

 private:
  std::map<std::pair<std::string, std::string>, ProfileObject> all_;
};

struct PodFacts {
  Pod pod;
  std::vector<wire::UnhealthyDevice> unhealthy_devices;
  std::optional<PublishedReservation> reservation;  // its job's reservation, which may have expired
  std::vector<std::string> avoids;          // after failures there; empty: not visible to the user
  Profiles profiles;                        // profiles of the pod's namespace
  std::vector<wire::EventAboutPod> events;  // oldest first
  std::shared_ptr<const ClusterSnapshot> cluster;  // null: not visible to the user
  ProgressFacts progress;
  std::vector<std::string> notes;
};

struct ClusterFacts {
  std::vector<Pod> pods;  // with GPUs, by namespace and name
  // Unexpired reservations, by the UID of a pod of the job. Empty without AddReservations().
  std::map<std::string, PublishedReservation> reservations;
  Profiles profiles;
  std::shared_ptr<const ClusterSnapshot> cluster;  // null: not requested
  ProgressFacts progress;
  std::vector<std::string> notes;
};

class FactsReader {
 public:
  // `client` and `reader` must outlive this object. `device_classes`: the DeviceClasses of GPUs
  // (docs/dra.md). GPUs of claims count if one of these classes exists.
  FactsReader(kube::ApiClient& client, const wire::ObjectReader& reader,
              std::vector<std::string> device_classes = {})
      : client_(client), reader_(reader), device_classes_(std::move(device_classes)) {}

  Result<PodFacts> ReadPod(const std::string& pod_namespace, const std::string& name);
  // Reads the living pods with these labels, by name.
  Result<std::vector<PodFacts>> ReadSelectedPods(const std::string& pod_namespace,
                                                 const std::string& labels);
  // Reads the pods of one namespace, or of all if the name is empty. Here and below, `labels` is a
  // Kubernetes selector for the objects to read; empty: all.
  Result<ClusterFacts> ReadPods(const std::string& pod_namespace, const std::string& labels = {});
  // Reads all nodes, and all pods.
  Result<ClusterFacts> ReadCluster(const std::string& labels = {});
  // Adds the reservations to the facts of that namespace, or of all namespaces if the name is
  // empty. Reads nothing if no pod waits for Synergy's scheduler.
  void AddReservations(const std::string& pod_namespace, WallTime now, ClusterFacts& facts);
  Result<Profiles> ReadProfiles(const std::string& profile_namespace,
                                const std::string& labels = {});
  // Returns the events about the object with that UID, oldest first.
  Result<std::vector<wire::EventAboutPod>> ReadEvents(const std::string& object_namespace,
                                                      const std::string& uid);

 private:
  // The objects of Dynamic Resource Allocation that the API server has.
  struct Devices {
    bool count = false;  // GPUs of claims count
    std::vector<DeviceClass> classes;
    std::vector<ResourceSlice> slices;
    std::vector<ResourceClaim> claims;
  };
  // Data that all the pods of one namespace share.
  struct Surroundings {
    wire::ObjectReader reader;
    Profiles profiles;
    ClusterState state;
    std::shared_ptr<const ClusterSnapshot> cluster;
    std::vector<std::string> notes;
  };
  std::unique_ptr<Surroundings> ReadSurroundings(const std::string& pod_namespace);
  // `text`: the pod as JSON.
  Result<PodFacts> ToFacts(const std::string& text, const std::string& pod_namespace,
                           const Surroundings& around);
  // Reads the claims of all namespaces, or only of this one if the user may not list the others.
  Devices ReadDevices(const std::string& pod_namespace, std::vector<std::string>& notes);
  wire::ObjectReader PodReader(const Devices& devices) const;
  void Put(Devices devices, ClusterState& state) const;
  void AddProfiles(const std::string& profile_namespace, Profiles& profiles,
                   std::vector<std::string>& notes);
  template <class T>
  Result<std::vector<T>> List(const wire::ObjectReader& reader, const std::string& path,
                              const std::string& fields = {}, const std::string& labels = {});
  // Returns the pods of the namespace; of all if it is empty.
  Result<std::vector<Pod>> Pods(const std::string& pod_namespace, const wire::ObjectReader& reader,
                                const std::string& labels = {});

  kube::ApiClient& client_;
  const wire::ObjectReader& reader_;
  const std::vector<std::string> device_classes_;
};

}  // namespace synergy::cli
