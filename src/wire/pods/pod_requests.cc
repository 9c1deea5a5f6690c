#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "wire/base/json_words.h"
#include "wire/base/resource_list.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

// The resources in the status of a container or the pod. An absent list differs from an empty one.
struct Reported {
  bool has_resources = false;             // status.resources exists
  std::optional<ResourceList> in_force;   // status.resources.requests
  std::optional<ResourceList> allocated;  // status.allocatedResources
};

std::optional<ResourceList> ReadListIfThere(FieldReader& fields, Value list) {
  if (list.absent()) return std::nullopt;
  return ResourceList::Read(fields, list);
}

Reported ReadReported(FieldReader& fields, Value status) {
  const Value resources = fields.Object(status["resources"]);
  return {.has_resources = !resources.missing(),
          .in_force = ReadListIfThere(fields, resources["requests"]),
          .allocated = ReadListIfThere(fields, status["allocatedResources"])};
}

// Indexed by container name. Kubernetes refuses duplicate names.
using ReportedByName = std::map<std::string_view, Reported>;

void ReadReported(FieldReader& fields, Value statuses, ReportedByName& by_name) {
  fields.Array(statuses).ForEachElement([&](Value status) {
    status = fields.Object(status);
    by_name.insert_or_assign(fields.Text(status["name"]), ReadReported(fields, status));
  });
}

// Returns whether the kubelet reports that the requested resize is impossible on its node.
bool IsResizeInfeasible(FieldReader& fields, Value status) {
  std::optional<bool> infeasible;
  fields.Array(status["conditions"]).ForEachElement([&](Value condition) {
    if (infeasible) return;
    condition = fields.Object(condition);
    if (fields.Text(condition["type"]) != "PodResizePending") return;
    infeasible = fields.Text(condition["reason"]) == "Infeasible";
  });
  return infeasible.value_or(false);
}

struct PodReported {
  ReportedByName by_name;
  Reported pod;
  bool infeasible = false;
};

PodReported ReadPodReported(FieldReader& fields, Value status, PodUse use) {
  PodReported reported;
  if (use != PodUse::kAccounted) return reported;
  ReadReported(fields, status["containerStatuses"], reported.by_name);
  ReadReported(fields, status["initContainerStatuses"], reported.by_name);
  reported.pod = ReadReported(fields, status);
  reported.infeasible = IsResizeInfeasible(fields, status);
  return reported;
}

ResourceList Largest(ResourceList list, const std::optional<ResourceList>& a,
                     const std::optional<ResourceList>& b) {
  if (a) list.Max(*a);
  if (b) list.Max(*b);
  return list;
}

struct ContainerRequests {
  std::string_view name;
  ResourceList requests;  // of the spec
  bool init = false;      // runs before the others, and ends
  bool sidecar = false;
};

// A function that returns the amounts of a container to add up.
using Amounts = ResourceList (*)(const ContainerRequests&, const Reported*, bool infeasible);

ResourceList OfSpec(const ContainerRequests& container, const Reported*, bool) {
  return container.requests;
}

// Kubernetes 1.35 and 1.36 add up the largest amount of each container.
ResourceList LargestOfContainer(const ContainerRequests& container, const Reported* reported,
                                bool infeasible) {
  if (container.init || reported == nullptr || !reported->has_resources) return container.requests;
  return Largest(infeasible ? ResourceList() : container.requests, reported->in_force,
                 reported->allocated);
}

ResourceList Allocated(const ContainerRequests& container, const Reported* reported,
                       bool infeasible) {
  if (reported != nullptr && reported->allocated) return *reported->allocated;
  return infeasible ? ResourceList() : container.requests;
}

ResourceList InForce(const ContainerRequests& container, const Reported* reported,
                     bool infeasible) {
  if (reported != nullptr && reported->in_force) return *reported->in_force;
  return Allocated(container, reported, infeasible);
}

// A pod's containers, in the order in which they start.
class Containers {
 public:
  Containers(FieldReader& fields, Value spec, const PodReported& reported) : reported_(reported) {
    Read(fields, spec["containers"], false);
    Read(fields, spec["initContainers"], true);
  }

  void Remove(std::string_view name) {
    std::erase_if(containers_,
                  [&](const ContainerRequests& container) { return container.name == name; });
  }

  struct Sum {
    ResourceList running;  // containers and sidecars together
    ResourceList peak;     // the most that the pod takes during its start

    ResourceList Total() const {
      ResourceList total = running;
      total.Max(peak);
      return total;
    }
  };

  Sum AddUp(Amounts amounts) const {
    Sum sum;
    ResourceList sidecars;  // those seen so far
    for (const ContainerRequests& container : containers_) {
      const auto it = reported_.by_name.find(container.name);
      ResourceList own = amounts(container, it == reported_.by_name.end() ? nullptr : &it->second,
                                 reported_.infeasible);
      if (container.init) {
        own.Add(sidecars);
        sum.peak.Max(own);
        continue;
      }
      sum.running.Add(own);
      if (!container.sidecar) continue;
      sidecars.Add(own);
      sum.peak.Max(sidecars);
    }
    return sum;
  }

  // Kubernetes 1.37 takes the largest of three sums; the pod's own report takes precedence over its
  // containers' reports.
  ResourceList LargestSum() const {
    const Reported& pod = reported_.pod;
    const bool pod_reports = pod.in_force && pod.allocated;
    ResourceList largest = reported_.infeasible ? ResourceList() : AddUp(OfSpec).Total();
    largest.Max(pod_reports ? *pod.in_force : AddUp(InForce).Total());
    largest.Max(pod_reports ? *pod.allocated : AddUp(Allocated).Total());
    return largest;
  }

 private:
  void Read(FieldReader& fields, Value list, bool init) {
    fields.Array(list).ForEachElement([&](Value value) {
      value = fields.Object(value);
      const bool sidecar = init && fields.Text(value["restartPolicy"]) == "Always";
      const Value requests = fields.Object(value["resources"])["requests"];
      containers_.push_back({.name = fields.Text(value["name"]),
                             .requests = ResourceList::Read(fields, requests),
                             .init = init && !sidecar,
                             .sidecar = sidecar});
    });
  }

  const PodReported& reported_;
  std::vector<ContainerRequests> containers_;
};

// Keeps the resources that may be set for a pod as a whole.
ResourceList OfPodLevel(const ResourceList& list) {
  ResourceList pod_level;
  for (const auto& [name, amount] : list.amounts()) {
    if (IsPodLevelResource(name)) pod_level.Set(name, amount);
  }
  return pod_level;
}

ResourceList Replaced(ResourceList total, const ResourceList& pod_level) {
  for (const auto& [name, amount] : pod_level.amounts()) total.Set(name, amount);
  return total;
}

// Keeps the amounts whose names the other list also has.
ResourceList Among(const ResourceList& list, const ResourceList& names) {
  ResourceList among;
  for (const auto& [name, amount] : list.amounts()) {
    if (names.amounts().contains(name)) among.Set(name, amount);
  }
  return among;
}

// Returns the largest amounts that any supported version of Kubernetes counts for a pod, without
// overhead.
ResourceList LargestOfAllVersions(FieldReader& fields, Value spec, const PodReported& reported) {
  const Containers containers(fields, spec, reported);
  const ResourceList by_container = containers.AddUp(LargestOfContainer).Total();
  const ResourceList pod_level =
      OfPodLevel(ResourceList::Read(fields, fields.Object(spec["resources"])["requests"]));
  if (reported.by_name.empty() && !reported.pod.has_resources) {
    return Replaced(by_container, pod_level);
  }
  ResourceList in_effect = pod_level;
  if (!pod_level.amounts().empty() && reported.pod.has_resources) {
    in_effect = OfPodLevel(Largest(reported.infeasible ? ResourceList() : pod_level,
                                   reported.pod.in_force, reported.pod.allocated));
  }
  // Kubernetes 1.35 replaces amounts by those of the pod-level spec. Kubernetes 1.36 uses the
  // amounts in effect of the resources that this spec names, and 1.37 all pod-level amounts in
  // effect.
  ResourceList before = pod_level;
  before.Max(Among(in_effect, pod_level));
  ResourceList largest = Replaced(by_container, before);
  largest.Max(Replaced(containers.LargestSum(), in_effect));
  return largest;
}

// For a pod to be placed, a negative request, which validation refuses, counts as 0.
void RaiseToZero(Resources& resources) {
  ResourceVector& main = resources.main;
  main.gpus = std::max(main.gpus, Gpus(0));
  main.cpu = std::max(main.cpu, MilliCpu(0));
  main.memory = std::max(main.memory, Bytes(0));
  ScalarResources others;
  for (const auto& [name, amount] : resources.other.entries()) {
    if (amount > 0) others.Set(name, amount);
  }
  resources.other = std::move(others);
}

}  // namespace

Resources ReadPodRequests(FieldReader& fields, Value spec, Value status, PodUse use,
                          std::string_view gpu_resource) {
  const PodReported reported = ReadPodReported(fields, status, use);
  ResourceList total = LargestOfAllVersions(fields, spec, reported);
  total.Add(ResourceList::Read(fields, spec["overhead"]));

  Resources requests = total.ToResources(gpu_resource, kLargestRequest);
  if (use == PodUse::kIncoming) RaiseToZero(requests);
  return requests;
}

ResourceVector ReadInitPeak(FieldReader& fields, Value spec, Value status, PodUse use,
                            std::string_view container) {
  if (spec["initContainers"].absent()) return {};
  const PodReported reported = ReadPodReported(fields, status, use);
  Containers containers(fields, spec, reported);
  containers.Remove(container);
  const Containers::Sum sum = containers.AddUp(LargestOfContainer);
  const auto amounts = [](const ResourceList& list) {
    ResourceVector main = list.ToResources({}, kLargestRequest).main;
    main.gpus = Gpus(0);
    return main;
  };
  return LargerOf(amounts(sum.peak) - amounts(sum.running), {});
}

}  // namespace synergy::wire
