#include "cli/cluster/cluster_facts.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "cluster/state/cluster_state.h"
#include "kube/apis/pod_api.h"
#include "kube/listing.h"

namespace synergy::cli {
namespace {

std::string ProfilesPath(const std::string& profile_namespace) {
  return profile_namespace.empty()
             ? "/apis/synergy.io/v1alpha1/trainingprofiles"
             : fmt::format("/apis/synergy.io/v1alpha1/namespaces/{}/trainingprofiles",
                           profile_namespace);
}

std::vector<Pod> WithGpus(const std::vector<Pod>& pods) {
  std::vector<Pod> chosen;
  for (const Pod& pod : pods) {
    if (pod.UsesGpus() && !pod.terminal) chosen.push_back(pod);
  }
  std::sort(chosen.begin(), chosen.end(), [](const Pod& a, const Pod& b) {
    return std::tie(a.pod_namespace, a.name) < std::tie(b.pod_namespace, b.name);
  });
  return chosen;
}

}  // namespace

Profiles::Profiles(std::vector<ProfileObject> objects) {
  for (ProfileObject& object : objects) {
    auto key = std::pair(object.profile_namespace, object.name);
    all_.insert_or_assign(std::move(key), std::move(object));
  }
}

const ProfileObject* Profiles::Find(const std::string& profile_namespace,
                                    const std::string& name) const {
  const auto found = all_.find({profile_namespace, name});
  return found == all_.end() ? nullptr : &found->second;
}

std::shared_ptr<const JobProfile> Profiles::Of(const Pod& pod) const {
  if (!pod.fungible || pod.fungible->profile.empty()) return nullptr;
  const ProfileObject* object = Find(pod.pod_namespace, pod.fungible->profile);
  if (object == nullptr) return nullptr;
  return ForGpus(object->profile, pod.requests.main.gpus);
}

Result<PodFacts> FactsReader::ReadPod(const std::string& pod_namespace, const std::string& name) {
  PodFacts facts;
  const Result<std::string> text = client_.Get(kube::PodPath(pod_namespace, name));
  if (!text) return Fail(text.error());
  Result<Pod> pod = reader_.ReadPod(*text, wire::PodUse::kAccounted);
  if (!pod) return Fail(pod.error());
  facts.pod = *std::move(pod);
  facts.unhealthy_devices = wire::ReadUnhealthyDevices(*text);

  Result<Profiles> profiles = ReadProfiles(pod_namespace);
  if (profiles) {
    facts.profiles = *std::move(profiles);
  } else {
    facts.notes.push_back("no training profiles: " + profiles.error().message);
  }
  auto events = ReadEvents(pod_namespace, facts.pod.uid);
  if (events) {
    facts.events = *std::move(events);
  } else {
    facts.notes.push_back("no events: " + events.error().message);
  }
  Result<std::vector<Pod>> pods = Pods("");
  auto cluster = pods ? Snapshot(*std::move(pods)) : Fail(pods.error());
  if (cluster) {
    facts.cluster = *std::move(cluster);
  } else {
    facts.notes.push_back("no data on nodes: " + cluster.error().message);
  }
  return facts;
}

Result<ClusterFacts> FactsReader::ReadPods(const std::string& pod_namespace) {
  Result<std::vector<Pod>> pods = Pods(pod_namespace);
  if (!pods) return Fail(pods.error());
  ClusterFacts facts;
  facts.pods = WithGpus(*pods);
  Result<Profiles> profiles = ReadProfiles(pod_namespace);
  if (profiles) {
    facts.profiles = *std::move(profiles);
  } else {
    facts.notes.push_back("no training profiles: " + profiles.error().message);
  }
  return facts;
}

Result<ClusterFacts> FactsReader::ReadCluster() {
  Result<std::vector<Pod>> pods = Pods("");
  if (!pods) return Fail(pods.error());
  ClusterFacts facts;
  facts.pods = WithGpus(*pods);
  auto cluster = Snapshot(*std::move(pods));
  if (!cluster) return Fail(cluster.error());
  facts.cluster = *std::move(cluster);
  Result<Profiles> profiles = ReadProfiles("");
  if (profiles) {
    facts.profiles = *std::move(profiles);
  } else {
    facts.notes.push_back("no training profiles: " + profiles.error().message);
  }
  return facts;
}

Result<Profiles> FactsReader::ReadProfiles(const std::string& profile_namespace) {
  auto listing =
      kube::ListAll<ProfileObject>(client_, reader_, {ProfilesPath(profile_namespace), ""});
  if (!listing) return Fail(listing.error());
  return Profiles(std::move(listing->items));
}

Result<std::vector<wire::EventAboutPod>> FactsReader::ReadEvents(
    const std::string& object_namespace, const std::string& uid) {
  auto events = kube::ListAll<wire::EventAboutPod>(
      client_, reader_,
      {fmt::format("/api/v1/namespaces/{}/events", object_namespace), "involvedObject.uid=" + uid});
  if (!events) return Fail(events.error());
  std::stable_sort(events->items.begin(), events->items.end(),
                   [](const auto& a, const auto& b) { return a.last < b.last; });
  return std::move(events->items);
}

Result<std::shared_ptr<const ClusterSnapshot>> FactsReader::Snapshot(std::vector<Pod> pods) {
  auto nodes = kube::ListAll<Node>(client_, reader_, {"/api/v1/nodes", ""});
  if (!nodes) return Fail(nodes.error());
  ClusterState state;
  state.ReplaceNodes(std::move(nodes->items));
  state.ReplacePods(std::move(pods));
  return state.Snapshot();
}

Result<std::vector<Pod>> FactsReader::Pods(const std::string& pod_namespace) {
  const std::string path = pod_namespace.empty()
                               ? "/api/v1/pods"
                               : fmt::format("/api/v1/namespaces/{}/pods", pod_namespace);
  auto listing = kube::ListAll<Pod>(client_, reader_, {path, kube::kLivingPods});
  if (!listing) return Fail(listing.error());
  return std::move(listing->items);
}

}  // namespace synergy::cli
