#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/annotations.h"
#include "wire/admission/admission_objects.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/base/resource_list.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

// Takes the larger of request and limit. For an extended resource, the API server requires them to
// be equal, and fills in a missing one from the other.
GpuAmount ReadGpus(FieldReader& fields, Value resources, std::string_view gpu_resource) {
  const auto amount = [&](std::string_view name) {
    const auto in = [&](const char* list) {
      return ToBytes(fields.Amount(fields.Object(resources[list])[name]), kLargestRequest).count();
    };
    return std::max({int64_t{0}, in("requests"), in("limits")});
  };
  return {Gpus(amount(gpu_resource)),
          Slices(amount(SharedResource(gpu_resource)) + amount(TurnsResource(gpu_resource)))};
}

// Sums the limits of the containers that run beside the named one.
ResourceVector ReadLimitsBeside(FieldReader& fields, Value spec, std::string_view name) {
  ResourceVector limits;
  const auto add = [&](Value container) {
    const WrittenAmounts amounts = ReadAmountsOf(fields, fields.Object(container["resources"]));
    limits += {Gpus(0), std::max(amounts.cpu_limit.value_or(MilliCpu(0)), MilliCpu(0)),
               std::max(amounts.memory_limit.value_or(Bytes(0)), Bytes(0))};
  };
  fields.Array(spec["containers"]).ForEachElement([&](Value container) {
    container = fields.Object(container);
    if (fields.Text(container["name"]) != name) add(container);
  });
  fields.Array(spec["initContainers"]).ForEachElement([&](Value container) {
    container = fields.Object(container);
    if (fields.Text(container["restartPolicy"]) == "Always") add(container);
  });
  return limits;
}

// Returns whether Kubernetes gives the unchanged pod the QoS class BestEffort.
bool ReadIsBestEffort(FieldReader& fields, Value spec) {
  bool none = true;
  for (const char* list : {"containers", "initContainers"}) {
    fields.Array(spec[list]).ForEachElement([&](Value container) {
      const WrittenAmounts amounts =
          ReadAmountsOf(fields, fields.Object(fields.Object(container)["resources"]));
      none &= amounts.cpu_request.value_or(MilliCpu(0)) <= MilliCpu(0) &&
              amounts.memory_request.value_or(Bytes(0)) <= Bytes(0) &&
              amounts.cpu_limit.value_or(MilliCpu(0)) <= MilliCpu(0) &&
              amounts.memory_limit.value_or(Bytes(0)) <= Bytes(0);
    });
  }
  return none;
}

// Further containers of a pod with claims are ignored, because each requires examining all the
// others.
constexpr size_t kMostClaiming = 8;

// Returns the names of ResourceClaimTemplates, by the names of the pod's claims.
std::map<std::string_view, std::string_view> ReadTemplates(FieldReader& fields, Value spec) {
  std::map<std::string_view, std::string_view> templates;
  fields.Array(spec["resourceClaims"]).ForEachElement([&](Value claim) {
    claim = fields.Object(claim);
    const std::string_view name = fields.Text(claim["resourceClaimTemplateName"]);
    if (!name.empty()) templates[fields.Text(claim["name"])] = name;
  });
  return templates;
}

// Returns the templates of the claims that a container uses.
std::vector<std::string> ReadTemplatesOf(
    FieldReader& fields, Value resources,
    const std::map<std::string_view, std::string_view>& templates) {
  std::set<std::string_view> claims;
  fields.Array(resources["claims"]).ForEachElement([&](Value claim) {
    claims.insert(fields.Text(fields.Object(claim)["name"]));
  });
  std::vector<std::string> names;
  for (const std::string_view claim : claims) {
    const auto name = templates.find(claim);
    if (name != templates.end()) names.emplace_back(name->second);
  }
  return names;
}

std::vector<std::string> ReadTexts(FieldReader& fields, Value list) {
  std::vector<std::string> texts;
  fields.Array(list).ForEachElement([&](Value text) { texts.push_back(ReadText(fields, text)); });
  return texts;
}

PodOwner ReadPodOwner(FieldReader& fields, Value metadata) {
  PodOwner owner;
  fields.Array(metadata["ownerReferences"]).ForEachElement([&](Value reference) {
    reference = fields.Object(reference);
    if (!fields.Truth(reference["controller"])) return;
    owner = {.api_version = ReadText(fields, reference["apiVersion"]),
             .kind = ReadText(fields, reference["kind"]),
             .name = ReadText(fields, reference["name"]),
             .uid = ReadText(fields, reference["uid"])};
  });
  return owner;
}

}  // namespace

PodToAdmit ReadPodToAdmit(FieldReader& fields, Value pod, std::string pod_namespace,
                          std::string_view gpu_resource) {
  const Value metadata = fields.Object(pod["metadata"]);
  const Value spec = fields.Object(pod["spec"]);
  PodToAdmit to_admit;
  to_admit.pod_namespace = std::move(pod_namespace);
  if (to_admit.pod_namespace.empty())
    to_admit.pod_namespace = ReadText(fields, metadata["namespace"]);
  to_admit.owner = ReadPodOwner(fields, metadata);
  to_admit.scheduler = ReadText(fields, spec["schedulerName"]);
  to_admit.labels = ReadLabels(fields, metadata["labels"]);
  const auto gang = ReadGang(to_admit.pod_namespace, metadata);
  if (gang) to_admit.gang_size = gang->size;
  to_admit.why_no_gang = ReadWhyNoGang(metadata["labels"], metadata["annotations"]);
  to_admit.scheduling_group =
      ReadText(fields, fields.Object(spec["schedulingGroup"])["podGroupName"]);
  to_admit.has_subdomain = !fields.Text(spec["subdomain"]).empty();
  to_admit.has_node = !fields.Text(spec["nodeName"]).empty();
  to_admit.pod_level_resources = !fields.Object(spec["resources"]).missing();
  fields.Object(metadata["annotations"]).ForEachMember([&](std::string_view key, Value value) {
    to_admit.annotation_bytes += key.size() + fields.Text(value).size();
    if (key == "kubernetes.io/config.mirror") to_admit.mirror = true;
    if (key == annotations::kProgressFile) to_admit.progress_file = ReadText(fields, value);
    if (key == annotations::kPacking) to_admit.may_pack = fields.Text(value) == "true";
    if (key == annotations::kExpectedDuration) to_admit.expected_duration = ReadText(fields, value);
  });
  const std::map<std::string_view, std::string_view> templates = ReadTemplates(fields, spec);
  size_t index = 0;
  fields.Array(spec["containers"]).ForEachElement([&](Value container) {
    container = fields.Object(container);
    const Value resources = fields.Object(container["resources"]);
    const GpuAmount gpus = ReadGpus(fields, resources, gpu_resource);
    const bool has_gpus = gpus != GpuAmount();
    std::vector<std::string> of_container;
    if (!has_gpus && to_admit.claiming_containers.size() < kMostClaiming)
      of_container = ReadTemplatesOf(fields, resources, templates);
    if (has_gpus || !of_container.empty()) {
      GpuContainer found;
      found.index = index;
      found.name = ReadText(fields, container["name"]);
      found.gpus = gpus;
      found.asks = ReadAmountsOf(fields, resources);
      found.image = ReadText(fields, container["image"]);
      found.command = ReadTexts(fields, container["command"]);
      found.args = ReadTexts(fields, container["args"]);
      found.written = ReadWrittenAmounts(fields, metadata["annotations"], resources, found.name);
      if (has_gpus) {
        to_admit.gpu_containers.push_back(std::move(found));
      } else {
        const Beside beside = ReadBeside(fields, spec, found.name);
        const ResourceVector limits = ReadLimitsBeside(fields, spec, found.name);
        to_admit.claiming_containers.push_back({std::move(found), std::move(of_container),
                                                beside.requests, limits, beside.guaranteed});
      }
    }
    ++index;
  });
  // Only GPU pods need these, which take the most work.
  if (!to_admit.gpu_containers.empty()) {
    const Beside beside = ReadBeside(fields, spec, to_admit.gpu_containers.front().name);
    to_admit.beside = beside.requests;
    to_admit.beside_limits = ReadLimitsBeside(fields, spec, to_admit.gpu_containers.front().name);
    to_admit.guaranteed_beside = beside.guaranteed;
  }
  if (!to_admit.gpu_containers.empty() || !to_admit.claiming_containers.empty()) {
    to_admit.selection = ReadNodeSelection(fields, spec);
    to_admit.best_effort = ReadIsBestEffort(fields, spec);
  }
  return to_admit;
}

}  // namespace synergy::wire
