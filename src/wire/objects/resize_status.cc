#include "wire/objects/resize_status.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/gpu_amount.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/base/resource_list.h"
#include "wire/objects/container_end.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

using Container = ResizeStatus::Container;

QosClass ParseQosClass(std::string_view text) {
  if (text == "Guaranteed") return QosClass::kGuaranteed;
  if (text == "Burstable") return QosClass::kBurstable;
  return QosClass::kBestEffort;
}

// `resources`: a v1.ResourceRequirements.
std::optional<Bytes> ReadMemoryLimit(FieldReader& fields, Value resources) {
  const Value limit = fields.Object(fields.Object(resources)["limits"])["memory"];
  if (limit.absent()) return std::nullopt;
  return ToBytes(fields.Amount(limit), kLargestRequest);
}

// Does what Container::probe_patience describes.
std::optional<Duration> ReadProbePatience(FieldReader& fields, Value spec) {
  constexpr int64_t kMost = 1'000'000;
  // A Duration has room for 292 years.
  constexpr int64_t kLongest = 24 * 3600;
  std::optional<Duration> least;
  for (const char* const name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Value probe = fields.Object(spec[name]);
    // The kernel answers TCP probes only until the queue of connections that the process has not
    // accepted is full.
    if (probe.missing()) continue;
    const auto read = [&](const char* field, int64_t otherwise) {
      return probe[field].absent() ? otherwise : fields.Integer(probe[field], 1, kMost);
    };
    // The first failing probe may begin when the processes stop.
    const int64_t seconds =
        read("periodSeconds", 10) * (read("failureThreshold", 3) - 1) + read("timeoutSeconds", 1);
    const Duration patience = std::chrono::seconds(std::min(seconds, kLongest));
    least = std::min(least.value_or(patience), patience);
  }
  return least;
}

void ReadSpecs(FieldReader& fields, Value list, bool only_sidecars,
               std::vector<Container>& containers) {
  fields.Array(list).ForEachElement([&](Value spec) {
    spec = fields.Object(spec);
    if (only_sidecars && spec["restartPolicy"].text() != "Always") return;
    Container& container = containers.emplace_back();
    container.name = ReadText(fields, spec["name"]);
    container.memory_limit = ReadMemoryLimit(fields, spec["resources"]);
    container.probe_patience = ReadProbePatience(fields, spec);
  });
}

void ReadEnd(FieldReader& fields, Value status, Container& container) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  container.restarts = ReadRestarts(fields, status);
  const std::optional<LastEnd> last = ReadLastEnd(fields, status);
  if (!last) return;
  container.ended_run = last->run;
  container.exit_code =
      static_cast<int32_t>(fields.Integer(last->terminated["exitCode"], -kMost, kMost));
}

void ReadStatuses(FieldReader& fields, Value list, std::vector<Container>& containers) {
  std::map<std::string_view, Container*> by_name;
  for (Container& container : containers) by_name[container.name] = &container;
  fields.Array(list).ForEachElement([&](Value status) {
    status = fields.Object(status);
    const auto container = by_name.find(fields.Text(status["name"]));
    if (container == by_name.end()) return;
    container->second->id = ReadText(fields, status["containerID"]);
    container->second->running = !fields.Object(status["state"])["running"].absent();
    container->second->memory_limit_in_force = ReadMemoryLimit(fields, status["resources"]);
    ReadEnd(fields, status, *container->second);
  });
}

void ReadConditions(FieldReader& fields, Value list, ResizeStatus& pod) {
  fields.Array(list).ForEachElement([&](Value condition) {
    condition = fields.Object(condition);
    if (fields.Text(condition["status"]) != "True") return;
    const std::string_view type = fields.Text(condition["type"]);
    if (type == "DisruptionTarget") pod.disrupted = true;
    const bool in_progress = type == "PodResizeInProgress";
    if (!in_progress && type != "PodResizePending") return;
    (in_progress ? pod.resize_in_progress : pod.resize_pending) = ResizeStatus::Condition{
        ReadText(fields, condition["reason"]), ReadText(fields, condition["message"])};
  });
}

// Returns whether the directory belongs to the node's own system, which holds no data set.
bool IsOfTheSystem(std::string_view path) {
  for (const std::string_view folder :
       {"/dev", "/etc", "/lib", "/proc", "/run", "/sys", "/usr", "/var/run"}) {
    if (path == folder || (path.starts_with(folder) && path[folder.size()] == '/')) return true;
  }
  return false;
}

std::vector<std::string> ReadStorage(FieldReader& fields, Value volumes,
                                     const std::string& pod_namespace) {
  constexpr size_t kMostStorage = 1000;
  std::vector<std::string> storage;
  fields.Array(volumes).ForEachElement([&](Value volume) {
    volume = fields.Object(volume);
    if (storage.size() >= kMostStorage) return fields.TooMuch("more than 1000 volumes of data");
    const std::string_view claim =
        fields.Text(fields.Object(volume["persistentVolumeClaim"])["claimName"]);
    const std::string_view path = fields.Text(fields.Object(volume["hostPath"])["path"]);
    const Value nfs = fields.Object(volume["nfs"]);
    if (!claim.empty()) storage.push_back(fmt::format("claim {}/{}", pod_namespace, claim));
    if (!path.empty() && !IsOfTheSystem(path)) storage.emplace_back(path);
    if (!nfs.missing()) {
      storage.push_back(fmt::format("{}:{}", fields.Text(nfs["server"]), fields.Text(nfs["path"])));
    }
  });
  return storage;
}

// The pod's author wrote these annotations, so errors in them do not make the pod unreadable.
ResizeStatus::ProgressSource ReadProgressSource(FieldReader& fields, Value annotations) {
  ResizeStatus::ProgressSource source;
  source.pattern = ReadText(fields, annotations[annotations::kProgressPattern]);
  source.counter = ReadText(fields, annotations[annotations::kProgressCounter]);
  const std::string_view port = fields.Text(annotations[annotations::kProgressPort]);
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error == std::errc() && end == port.data() + port.size() && number > 0) source.port = number;
  const std::string_view path = fields.Text(annotations[annotations::kProgressPath]);
  if (!path.empty()) source.path = path;
  source.file = fields.Text(annotations[annotations::kProgressFile]) == "true";
  return source;
}

}  // namespace

template <>
struct Kind<ResizeStatus> {
  static constexpr std::string_view kName = "pod";
  static ResizeStatus Read(FieldReader& fields, Value object, const PodRules& rules) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value spec = fields.Object(object["spec"]);
    const Value status = fields.Object(object["status"]);
    ResizeStatus pod;
    pod.uid = ReadText(fields, metadata["uid"]);
    pod.pod_namespace = ReadText(fields, metadata["namespace"]);
    pod.name = ReadText(fields, metadata["name"]);
    pod.node = ReadText(fields, spec["nodeName"]);
    pod.generation = fields.Integer(metadata["generation"], 0, std::numeric_limits<int64_t>::max());
    pod.deleting = ReadDeleting(fields, metadata);
    const Value annotations = fields.Object(metadata["annotations"]);
    pod.managed =
        !annotations["synergy.io/profile"].absent() || !annotations["synergy.io/demand"].absent();
    pod.qos_class = ParseQosClass(fields.Text(status["qosClass"]));
    const std::string_view phase = fields.Text(status["phase"]);
    pod.terminal = phase == "Succeeded" || phase == "Failed";
    ReadSpecs(fields, spec["containers"], false, pod.containers);
    ReadSpecs(fields, spec["initContainers"], true, pod.containers);
    ReadStatuses(fields, status["containerStatuses"], pod.containers);
    ReadStatuses(fields, status["initContainerStatuses"], pod.containers);
    ReadConditions(fields, status["conditions"], pod);
    // Users who may write pods may write invalid values here.
    FieldReader lenient(object);
    if (metadata["labels"]["synergy.io/fungible"].text() != "false") {
      pod.fungible =
          ReadManagedContainer(lenient, metadata, spec, status, PodUse::kAccounted, nullptr, "");
    }
    const Resources requests =
        ReadPodRequests(lenient, spec, status, PodUse::kIncoming, rules.gpu_resource);
    pod.has_share = pod.fungible && requests.main.gpus > Gpus(0) && IsManaged(spec, rules.claims);
    pod.gpus_in_turns = requests.other.Get(TurnsResource(rules.gpu_resource));
    pod.is_launcher = requests.main.gpus == Gpus(0) &&
                      SlicesOf(requests.other, rules.gpu_resource) == Slices(0) &&
                      IsManaged(spec, rules.claims);
    pod.in_gang = ReadGang(pod.pod_namespace, metadata) != nullptr;
    pod.allows_suspension = lenient.Text(annotations[annotations::kSuspend]) == "true";
    pod.progress = ReadProgressSource(lenient, annotations);
    // On the host network, another pod may own the port.
    pod.pod_ip = ReadText(lenient, status["podIP"]);
    if (!lenient.Truth(spec["hostNetwork"])) pod.ip = pod.pod_ip;
    lenient.Array(metadata["ownerReferences"]).ForEachElement([&](Value owner) {
      if (owner["kind"].text() == "DaemonSet" && lenient.Truth(owner["controller"]))
        pod.daemon_set = ReadText(lenient, owner["name"]);
    });
    pod.storage = ReadStorage(lenient, spec["volumes"], pod.pod_namespace);
    return pod;
  }
};

template struct KindReader<ResizeStatus>;

template <>
struct Kind<AgentPod> {
  static constexpr std::string_view kName = "pod";
  static AgentPod Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value status = fields.Object(object["status"]);
    AgentPod pod;
    pod.uid = ReadText(fields, metadata["uid"]);
    pod.node = ReadText(fields, fields.Object(object["spec"])["nodeName"]);
    pod.address = ReadText(fields, status["podIP"]);
    fields.Array(status["conditions"]).ForEachElement([&](Value condition) {
      condition = fields.Object(condition);
      if (fields.Text(condition["type"]) == "Ready")
        pod.ready = fields.Text(condition["status"]) == "True";
    });
    if (ReadDeleting(fields, metadata)) pod.ready = false;
    return pod;
  }
};

template struct KindReader<AgentPod>;

}  // namespace synergy::wire
