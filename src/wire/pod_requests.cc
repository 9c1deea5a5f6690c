#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "wire/json_words.h"
#include "wire/object_readers.h"
#include "wire/resource_list.h"

namespace synergy::wire {
namespace {

// What a container's status says of its resources.
struct Reported {
  ResourceList in_force;   // status.resources.requests
  ResourceList allocated;  // status.allocatedResources
};

// By container name. kube-scheduler goes through both lists and lets a later entry of a name win.
using ReportedByName = std::map<std::string_view, std::optional<Reported>>;

void ReadReported(FieldReader& fields, Value statuses, ReportedByName& by_name) {
  fields.Array(statuses).ForEachElement([&](Value status) {
    status = fields.Object(status);
    std::optional<Reported>& reported = by_name[fields.Text(status["name"])];
    reported.reset();
    // Without `resources`, what is allocated does not count either.
    const Value resources = fields.Object(status["resources"]);
    if (resources.missing()) return;
    reported.emplace();
    reported->in_force = ResourceList::Read(fields, resources["requests"]);
    reported->allocated = ResourceList::Read(fields, status["allocatedResources"]);
  });
}

// Whether the kubelet says that the resize asked for can never happen here.
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
  bool infeasible = false;
};

PodReported ReadPodReported(FieldReader& fields, Value status, PodUse use) {
  PodReported reported;
  if (use != PodUse::kAccounted) return reported;
  ReadReported(fields, status["containerStatuses"], reported.by_name);
  ReadReported(fields, status["initContainerStatuses"], reported.by_name);
  reported.infeasible = IsResizeInfeasible(fields, status);
  return reported;
}

// Adds up a pod's containers as AggregateContainerRequests of component-helpers does.
class ContainerSum {
 public:
  ContainerSum(FieldReader& fields, const PodReported& reported)
      : fields_(fields), reported_(reported.by_name), infeasible_(reported.infeasible) {}

  void AddContainers(Value containers, std::string_view without = {}) {
    fields_.Array(containers).ForEachElement([&](Value container) {
      container = fields_.Object(container);
      if (!without.empty() && fields_.Text(container["name"]) == without) return;
      app_.Add(Effective(container));
    });
  }

  void AddInitContainers(Value containers) {
    fields_.Array(containers).ForEachElement([this](Value container) {
      container = fields_.Object(container);
      if (fields_.Text(container["restartPolicy"]) == "Always") {
        const ResourceList effective = Effective(container);
        app_.Add(effective);
        sidecars_.Add(effective);
        peak_.Max(sidecars_);
      } else {
        ResourceList running = Requests(container);
        running.Add(sidecars_);
        peak_.Max(running);
      }
    });
  }

  // What is needed while the pod starts, beyond what all containers ask for then.
  ResourceVector PeakAboveContainers() const {
    const auto amounts = [](const ResourceList& list) {
      ResourceVector main = list.ToResources({}, kLargestRequest).main;
      main.gpus = Gpus(0);
      return main;
    };
    return LargerOf(amounts(peak_) - amounts(app_), {});
  }
  ResourceList Total() const {
    ResourceList total = app_;
    total.Max(peak_);
    return total;
  }

 private:
  ResourceList Requests(Value container) {
    return ResourceList::Read(fields_, fields_.Object(container["resources"])["requests"]);
  }

  ResourceList Effective(Value container) {
    ResourceList requests = Requests(container);
    if (reported_.empty()) return requests;
    const auto it = reported_.find(fields_.Text(container["name"]));
    if (it == reported_.end()) return requests;
    const std::optional<Reported>& reported = it->second;
    if (!reported) return requests;
    if (infeasible_) requests = ResourceList();
    requests.Max(reported->in_force);
    requests.Max(reported->allocated);
    return requests;
  }

  FieldReader& fields_;
  const ReportedByName& reported_;
  const bool infeasible_;
  ResourceList app_;       // containers and sidecars together
  ResourceList sidecars_;  // those seen so far
  ResourceList peak_;      // the most that the pod takes while it starts
};

// A negative request, which validation refuses, counts as none for a pod to be placed.
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
  ContainerSum sum(fields, reported);
  sum.AddContainers(spec["containers"]);
  sum.AddInitContainers(spec["initContainers"]);
  ResourceList total = sum.Total();

  const ResourceList pod_level =
      ResourceList::Read(fields, fields.Object(spec["resources"])["requests"]);
  for (const auto& [name, amount] : pod_level.amounts()) {
    if (IsPodLevelResource(name)) total.Set(name, amount);
  }
  total.Add(ResourceList::Read(fields, spec["overhead"]));

  Resources requests = total.ToResources(gpu_resource, kLargestRequest);
  if (use == PodUse::kIncoming) RaiseToZero(requests);
  return requests;
}

ResourceVector ReadInitPeak(FieldReader& fields, Value spec, Value status, PodUse use,
                            std::string_view container) {
  if (spec["initContainers"].absent()) return {};
  const PodReported reported = ReadPodReported(fields, status, use);
  ContainerSum sum(fields, reported);
  sum.AddContainers(spec["containers"], container);
  sum.AddInitContainers(spec["initContainers"]);
  return sum.PeakAboveContainers();
}

}  // namespace synergy::wire
