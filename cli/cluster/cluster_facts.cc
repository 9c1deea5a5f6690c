#include "cli/cluster/cluster_facts.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "kube/apis/pod_api.h"
#include "kube/apis/profile_api.h"
#include "kube/listing.h"
#include "wire/pods/gpu_reservation.h"

namespace synergy::cli {
namespace {

constexpr std::string_view kCore = "/api/v1/";
constexpr std::string_view kDra = "/apis/resource.k8s.io/v1/";

// Returns the pods of `state` that have GPUs, whole or in slices. `pods`: the pods as they were
// read.
std::vector<Pod> WithGpus(const std::vector<Pod>& pods, const ClusterState& state) {
  std::vector<Pod> chosen;
  for (const Pod& pod : pods) {
    Pod counted = state.WithDevices(pod);
    const bool has_gpus = counted.UsesGpus() || counted.SharesGpus();
    if (has_gpus && !counted.terminal) chosen.push_back(std::move(counted));
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
  const Result<std::string> text = client_.Get(kube::PodPath(pod_namespace, name));
  if (!text) return Fail(text.error());
  return ToFacts(*text, pod_namespace, *ReadSurroundings(pod_namespace));
}

Result<std::vector<PodFacts>> FactsReader::ReadSelectedPods(const std::string& pod_namespace,
                                                            const std::string& labels) {
  const Result<std::vector<Pod>> pods = Pods(pod_namespace, reader_, labels);
  if (!pods) return Fail(pods.error());
  const std::unique_ptr<Surroundings> around = ReadSurroundings(pod_namespace);
  std::vector<PodFacts> all;
  for (const Pod& pod : *pods) {
    const Result<std::string> text = client_.Get(kube::PodPath(pod_namespace, pod.name));
    if (!text && text.error().code == ErrorCode::kNotFound) continue;  // it has just been deleted
    if (!text) return Fail(text.error());
    Result<PodFacts> facts = ToFacts(*text, pod_namespace, *around);
    if (!facts) return Fail(facts.error());
    all.push_back(*std::move(facts));
  }
  return all;
}

std::unique_ptr<FactsReader::Surroundings> FactsReader::ReadSurroundings(
    const std::string& pod_namespace) {
  std::vector<std::string> notes;
  Devices devices = ReadDevices(pod_namespace, notes);
  auto around = std::make_unique<Surroundings>(PodReader(devices));
  around->notes = std::move(notes);
  AddProfiles(pod_namespace, around->profiles, around->notes);
  Put(std::move(devices), around->state);
  Result<std::vector<Pod>> pods = Pods("", around->reader);
  auto nodes = pods ? List<Node>(around->reader, "/api/v1/nodes") : Fail(pods.error());
  if (nodes) {
    around->state.ReplaceNodes(*std::move(nodes));
    around->state.ReplacePods(*std::move(pods));
    around->cluster = around->state.Snapshot();
  } else {
    around->notes.push_back("nodes are not shown: " + nodes.error().message);
  }
  return around;
}

Result<PodFacts> FactsReader::ToFacts(const std::string& text, const std::string& pod_namespace,
                                      const Surroundings& around) {
  Result<Pod> pod = around.reader.ReadPod(text, wire::PodUse::kAccounted);
  if (!pod) return Fail(pod.error());
  PodFacts facts;
  facts.unhealthy_devices = wire::ReadUnhealthyDevices(text);
  facts.reservation = wire::ReadReservationOf(text, reader_.pod_rules().claims.scheduler_name);
  facts.profiles = around.profiles;
  facts.cluster = around.cluster;
  facts.notes = around.notes;
  auto events = ReadEvents(pod_namespace, pod->uid);
  if (events) {
    facts.events = *std::move(events);
  } else {
    facts.notes.push_back("events are not shown: " + events.error().message);
  }
  facts.pod = around.state.WithDevices(*std::move(pod));
  return facts;
}

Result<ClusterFacts> FactsReader::ReadPods(const std::string& pod_namespace,
                                           const std::string& labels) {
  ClusterFacts facts;
  Devices devices = ReadDevices(pod_namespace, facts.notes);
  Result<std::vector<Pod>> pods = Pods(pod_namespace, PodReader(devices), labels);
  if (!pods) return Fail(pods.error());
  ClusterState state;
  Put(std::move(devices), state);
  state.ReplacePods(*pods);
  facts.pods = WithGpus(*pods, state);
  AddProfiles(pod_namespace, facts.profiles, facts.notes);
  return facts;
}

Result<ClusterFacts> FactsReader::ReadCluster(const std::string& labels) {
  ClusterFacts facts;
  Devices devices = ReadDevices("", facts.notes);
  const wire::ObjectReader reader = PodReader(devices);
  Result<std::vector<Pod>> pods = Pods("", reader);
  if (!pods) return Fail(pods.error());
  auto nodes = List<Node>(reader, "/api/v1/nodes", {}, labels);
  if (!nodes) return Fail(nodes.error());
  ClusterState state;
  Put(std::move(devices), state);
  state.ReplaceNodes(*std::move(nodes));
  state.ReplacePods(*pods);
  facts.pods = WithGpus(*pods, state);
  facts.cluster = state.Snapshot();
  AddProfiles("", facts.profiles, facts.notes);
  return facts;
}

void FactsReader::AddReservations(const std::string& pod_namespace, WallTime now,
                                  ClusterFacts& facts) {
  const std::string& scheduler = reader_.pod_rules().claims.scheduler_name;
  if (std::none_of(facts.pods.begin(), facts.pods.end(), [&](const Pod& pod) {
        return pod.node.empty() && pod.waiting && pod.waiting->scheduler == scheduler;
      }))
    return;
  auto waiting = List<wire::PodTimes>(reader_, kube::ListPath(kCore, "pods", pod_namespace),
                                      "spec.nodeName=,spec.schedulerName=" + scheduler);
  if (!waiting) {
    facts.notes.push_back("reservations of GPUs are not shown: " + waiting.error().message);
    return;
  }
  for (wire::PodTimes& pod : *waiting) {
    if (pod.reservation && pod.reservation->until > now)
      facts.reservations.emplace(std::move(pod.uid), *std::move(pod.reservation));
  }
}

Result<Profiles> FactsReader::ReadProfiles(const std::string& profile_namespace,
                                           const std::string& labels) {
  auto profiles =
      List<ProfileObject>(reader_, kube::TrainingProfilesPath(profile_namespace), {}, labels);
  if (!profiles) return Fail(profiles.error());
  return Profiles(*std::move(profiles));
}

void FactsReader::AddProfiles(const std::string& profile_namespace, Profiles& profiles,
                              std::vector<std::string>& notes) {
  Result<Profiles> read = ReadProfiles(profile_namespace);
  if (read) {
    profiles = *std::move(read);
  } else {
    notes.push_back("training profiles are not shown: " + read.error().message);
  }
}

Result<std::vector<wire::EventAboutPod>> FactsReader::ReadEvents(
    const std::string& object_namespace, const std::string& uid) {
  auto events = List<wire::EventAboutPod>(
      reader_, kube::ListPath(kCore, "events", object_namespace), "involvedObject.uid=" + uid);
  if (!events) return Fail(events.error());
  std::stable_sort(events->begin(), events->end(),
                   [](const auto& a, const auto& b) { return a.last < b.last; });
  return events;
}

FactsReader::Devices FactsReader::ReadDevices(const std::string& pod_namespace,
                                              std::vector<std::string>& notes) {
  Devices devices;
  if (device_classes_.empty()) return devices;
  auto classes = List<DeviceClass>(reader_, kube::ListPath(kDra, "deviceclasses"));
  // Rights in a namespace usually include its claims, but not the classes.
  const auto is_denied = [](const auto& list) {
    return !list && list.error().code == ErrorCode::kDenied;
  };
  if (!classes && !is_denied(classes)) {
    // An API server without Dynamic Resource Allocation has no GPUs of ResourceClaims.
    if (classes.error().code != ErrorCode::kNotFound)
      notes.push_back("GPUs of ResourceClaims are not counted: " + classes.error().message);
    return devices;
  }
  const auto is_gpu_class = [&](const DeviceClass& each) {
    return std::find(device_classes_.begin(), device_classes_.end(), each.name) !=
           device_classes_.end();
  };
  if (classes && std::none_of(classes->begin(), classes->end(), is_gpu_class)) return devices;
  auto claims = List<ResourceClaim>(reader_, kube::ListPath(kDra, "resourceclaims"));
  if (is_denied(claims) && !pod_namespace.empty())
    claims = List<ResourceClaim>(reader_, kube::ListPath(kDra, "resourceclaims", pod_namespace));
  if (!claims) {
    if (classes)
      notes.push_back("GPUs of ResourceClaims are not counted: " + claims.error().message);
    return devices;
  }
  auto slices = List<ResourceSlice>(reader_, kube::ListPath(kDra, "resourceslices"));
  if (!slices && classes)
    notes.push_back("GPUs of ResourceSlices are not counted: " + slices.error().message);
  devices.count = true;
  devices.claims = *std::move(claims);
  if (classes) devices.classes = *std::move(classes);
  if (slices) devices.slices = *std::move(slices);
  return devices;
}

wire::ObjectReader FactsReader::PodReader(const Devices& devices) const {
  const wire::PodRules& rules = reader_.pod_rules();
  return wire::ObjectReader(rules.gpu_resource, rules.claims, devices.count);
}

void FactsReader::Put(Devices devices, ClusterState& state) const {
  if (!devices.count) return;
  state.CountDevices({reader_.gpu_resource(), device_classes_});
  state.ReplaceDeviceClasses(std::move(devices.classes));
  state.ReplaceResourceSlices(std::move(devices.slices));
  state.ReplaceResourceClaims(std::move(devices.claims));
}

template <class T>
Result<std::vector<T>> FactsReader::List(const wire::ObjectReader& reader, const std::string& path,
                                         const std::string& fields, const std::string& labels) {
  auto listing = kube::ListAll<T>(
      client_, reader, {.path = path, .field_selector = fields, .label_selector = labels});
  if (!listing) return Fail(listing.error());
  return std::move(listing->items);
}

Result<std::vector<Pod>> FactsReader::Pods(const std::string& pod_namespace,
                                           const wire::ObjectReader& reader,
                                           const std::string& labels) {
  return List<Pod>(reader, kube::ListPath(kCore, "pods", pod_namespace), kube::kLivingPods, labels);
}

}  // namespace synergy::cli
