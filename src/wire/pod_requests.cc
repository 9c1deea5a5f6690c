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

// Adds up a pod's containers as AggregateContainerRequests of component-helpers does.
class ContainerSum {
 public:
  ContainerSum(FieldReader& fields, const ReportedByName& reported, bool infeasible)
      : fields_(fields), reported_(reported), infeasible_(infeasible) {}

  void AddContainers(Value containers) {
    fields_.Array(containers).ForEachElement([this](Value container) {
      app_.Add(Effective(fields_.Object(container)));
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
  ReportedByName reported;
  bool infeasible = false;
  if (use == PodUse::kAccounted) {
    ReadReported(fields, status["containerStatuses"], reported);
    ReadReported(fields, status["initContainerStatuses"], reported);
    infeasible = IsResizeInfeasible(fields, status);
  }
  ContainerSum sum(fields, reported, infeasible);
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

}  // namespace synergy::wire
