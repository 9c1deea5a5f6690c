#include "cli/simulate/history/kubernetes_trace.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/exact_quantity.h"
#include "sim/traces/time_text.h"

namespace synergy::cli {
namespace {

constexpr std::string_view kModelLabel = "synergy.io/profile";

// Owners whose parts run at the same time. Each part of any other owner, such as a CronJob, is a
// separate job.
constexpr auto kWholes = std::to_array<std::string_view>(
    {"AppWrapper", "JAXJob", "Job", "JobSet", "LeaderWorkerSet", "MPIJob", "PaddleJob", "Pod",
     "PyTorchJob", "RayCluster", "RayJob", "StatefulSet", "TFJob", "TrainJob", "XGBoostJob"});
constexpr auto kServices = std::to_array<std::string_view>({"DaemonSet", "Node", "ReplicaSet"});

bool Contains(const auto& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the owner that controls the object; missing if there is none.
json::Value ControllerOf(json::Value item) {
  json::Value found;
  item["metadata"]["ownerReferences"].ForEachElement([&found](json::Value owner) {
    if (owner["controller"].truth()) found = owner;
  });
  return found;
}

// Returns since when the condition has been True; missing if it is not True.
json::Value SinceWhen(json::Value item, std::string_view type) {
  json::Value found;
  item["status"]["conditions"].ForEachElement([&](json::Value condition) {
    if (condition["type"].text() == type && condition["status"].text() == "True")
      found = condition["lastTransitionTime"];
  });
  return found;
}

// Returns the most GPUs in use at any moment. A part that starts when another ends does not overlap
// with it.
template <class Parts>
int64_t MostAtOnce(const Parts& parts) {
  std::vector<std::pair<Seconds, int64_t>> changes;
  int64_t most = 0;
  for (const auto& part : parts) {
    most = std::max(most, part.gpus);
    changes.emplace_back(*part.started, part.gpus);
    changes.emplace_back(*part.ended, -part.gpus);
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0;
  for (const auto& [time, gpus] : changes) most = std::max(most, now += gpus);
  return most;
}

}  // namespace

Result<std::string> KubernetesTrace::Add(std::string_view text) {
  const Result<json::Document> document = json::Document::Parse(text);
  if (!document) return Fail(document.error());
  const json::Value list = document->root();
  root_ = list;
  const std::string_view kind = list["kind"].text();
  if (list.IsArray()) {
    list.ForEachElement([&](json::Value item) { AddObject(item["kind"].text(), item); });
  } else if (list["items"].IsArray()) {
    // The objects in a "JobList" have no kind.
    const std::string_view of_items =
        kind.ends_with("List") ? kind.substr(0, kind.size() - 4) : kind;
    list["items"].ForEachElement([&](json::Value item) {
      const std::string_view own = item["kind"].text();
      AddObject(own.empty() ? of_items : own, item);
    });
  } else if (list["metadata"].IsObject() && !kind.empty()) {
    AddObject(kind, list);
  } else {
    return Fail(ErrorCode::kInvalid,
                list["jobs"].IsArray()
                    ? "looks like sacct --json: save sacct -P -o "
                      "JobID,Submit,Start,End,ElapsedRaw,State,AllocTRES"
                    : "not a list of Kubernetes: save kubectl get jobs,workloads,pods -A -o json");
  }
  if (error_) return Fail(*std::exchange(error_, std::nullopt));
  return std::string(list["metadata"]["continue"].text());
}

void KubernetesTrace::Reject(json::Value value, std::string_view cure) {
  if (error_) return;
  error_ = Error{ErrorCode::kInvalid,
                 fmt::format("{} is \"{}\": {}", root_.PathTo(value), value.text(), cure)};
}

int64_t KubernetesTrace::CountOf(json::Value number, int64_t otherwise) {
  constexpr int64_t kMost = 1'000'000;
  if (number.absent()) return otherwise;
  const auto count = ParseExactQuantity(number.text());
  if (count) return std::clamp(count->exact.ToUnits(), int64_t{0}, kMost);
  Reject(number, "write a number");
  return otherwise;
}

void KubernetesTrace::AddObject(std::string_view kind, json::Value item) {
  const std::string uid(item["metadata"]["uid"].text());
  if (uid.empty()) return;
  if (kind == "Pod" && Contains(kServices, ControllerOf(item)["kind"].text())) {
    ++services_;
    return;
  }
  Link(kind, uid, item);
  Object object;
  if (kind == "Workload") {
    object = ReadWorkload(item);
  } else if (kind == "Job") {
    object = ReadJob(item);
  } else if (kind == "Pod") {
    object = ReadPod(item);
  } else {
    return;  // a JobSet or RayJob only links its parts
  }
  object.submitted = TimeOf(item["metadata"]["creationTimestamp"]);
  const std::string_view model = item["metadata"]["labels"][kModelLabel].text();
  if (!model.empty()) object.model = model;
  objects_[uid] = std::move(object);
}

void KubernetesTrace::Link(std::string_view kind, const std::string& uid, json::Value item) {
  const json::Value controller = ControllerOf(item);
  if (kind == "Workload" ? !controller.missing() : Contains(kWholes, controller["kind"].text())) {
    owners_.emplace(uid, controller["uid"].text());
  } else if (kind == "Workload") {
    // In Kueue's groups of pods, each pod is an owner, and none is the controller.
    item["metadata"]["ownerReferences"].ForEachElement(
        [&](json::Value pod) { owners_.emplace(pod["uid"].text(), uid); });
  }
}

KubernetesTrace::Object KubernetesTrace::ReadWorkload(json::Value item) {
  Object object{.source = Source::kWorkload};
  item["spec"]["podSets"].ForEachElement([&](json::Value set) {
    const json::Value pod = set["template"];
    object.gpus += CountOf(set["count"], 1) * GpusOf(pod["spec"]);
    const std::string_view model = pod["metadata"]["labels"][kModelLabel].text();
    if (!model.empty()) object.model = model;
  });
  object.started = TimeOf(SinceWhen(item, "Admitted"));
  object.ended = TimeOf(SinceWhen(item, "Finished"));
  return object;
}

KubernetesTrace::Object KubernetesTrace::ReadJob(json::Value item) {
  const json::Value spec = item["spec"];
  const json::Value pod = spec["template"];
  const int64_t parallelism = CountOf(spec["parallelism"], 1);
  Object object{.source = Source::kJob};
  object.model = pod["metadata"]["labels"][kModelLabel].text();
  object.gpus =
      std::min(parallelism, CountOf(spec["completions"], parallelism)) * GpusOf(pod["spec"]);
  object.started = TimeOf(item["status"]["startTime"]);
  object.ended = TimeOf(item["status"]["completionTime"]);
  if (!object.ended) object.ended = TimeOf(SinceWhen(item, "Failed"));
  return object;
}

KubernetesTrace::Object KubernetesTrace::ReadPod(json::Value item) {
  const json::Value status = item["status"];
  Object object{.source = Source::kPod};
  object.gpus = GpusOf(item["spec"]);
  if (!item["spec"]["nodeName"].text().empty()) object.started = TimeOf(status["startTime"]);
  const bool is_over = status["phase"].text() == "Succeeded" || status["phase"].text() == "Failed";
  if (!is_over) return object;
  status["containerStatuses"].ForEachElement([&](json::Value container) {
    const auto end = TimeOf(container["state"]["terminated"]["finishedAt"]);
    if (end) object.ended = std::max(object.ended.value_or(*end), *end);
  });
  // An evicted pod may have no container statuses.
  if (!object.ended) object.ended = object.started;
  return object;
}

// Counts as kube-scheduler does: an init container runs before the others, and beside the sidecars
// that precede it.
int64_t KubernetesTrace::GpusOf(json::Value pod_spec) {
  const auto of_container = [this](json::Value container) {
    const json::Value resources = container["resources"];
    return CountOf(resources["limits"][gpu_resource_],
                   CountOf(resources["requests"][gpu_resource_], 0));
  };
  int64_t sidecars = 0;
  int64_t most_before = 0;
  pod_spec["initContainers"].ForEachElement([&](json::Value container) {
    const int64_t gpus = of_container(container);
    const bool stays = container["restartPolicy"].text() == "Always";
    most_before = std::max(most_before, sidecars + gpus);
    if (stays) sidecars += gpus;
  });
  int64_t gpus = sidecars;
  pod_spec["containers"].ForEachElement(
      [&](json::Value container) { gpus += of_container(container); });
  return std::max(gpus, most_before);
}

std::optional<Seconds> KubernetesTrace::TimeOf(json::Value text) {
  if (text.absent()) return std::nullopt;
  const auto time = ReadTimeText(text.text());
  if (!time) Reject(text, "write a time as 2024-05-01T10:00:00Z");
  if (time) latest_ = std::max(latest_, *time);
  return time;
}

std::string KubernetesTrace::WholeOf(const std::string& uid) const {
  // Owner references may form a cycle.
  constexpr int kMostLevels = 8;
  std::string whole = uid;
  for (int level = 0; level < kMostLevels; ++level) {
    const auto found = owners_.find(whole);
    if (found == owners_.end()) break;
    whole = found->second;
  }
  return whole;
}

// Moves the starts of Workloads and Jobs to those of their pods, as far as these are known. A
// Workload may be admitted, and a Job created or resumed, long before the pods have GPUs. Pods of
// earlier runs do not count.
void KubernetesTrace::StartWithPods(std::vector<Object>& parts) {
  const auto is_pod = [](const Object& part) {
    return part.source == Source::kPod && part.gpus > 0;
  };
  if (std::none_of(parts.begin(), parts.end(), is_pod)) return;
  for (Object& part : parts) {
    if (part.source == Source::kPod || !part.started) continue;
    std::optional<Seconds> first;
    for (const Object& pod : parts) {
      if (!is_pod(pod) || !pod.started || (pod.ended && *pod.ended <= *part.started)) continue;
      first = std::min(first.value_or(*pod.started), *pod.started);
    }
    if (first && (!part.ended || *first <= *part.ended)) {
      part.started = std::max(*part.started, *first);
    } else if (!first && !part.ended) {
      part.started.reset();
    }
  }
}

// REQUIRES: all parts have the same source.
RecordedRow KubernetesTrace::RowOf(const std::vector<Object>& parts, Seconds end) {
  RecordedRow row;
  int64_t requested = 0;
  bool runs = false;
  std::vector<Object> ran;
  for (Object part : parts) {
    requested += part.gpus;
    if (part.submitted)
      row.submitted = std::min(row.submitted.value_or(*part.submitted), *part.submitted);
    if (!part.model.empty()) row.model = part.model;
    if (!part.started || part.gpus == 0) continue;
    runs |= !part.ended;
    if (!part.ended) part.ended = std::max(end, *part.started);
    row.started = std::min(row.started.value_or(*part.started), *part.started);
    row.ended = std::max(row.ended.value_or(*part.ended), *part.ended);
    ran.push_back(std::move(part));
  }
  row.gpus = static_cast<double>(ran.empty() ? requested : MostAtOnce(ran));
  if (runs) {
    row.state = RecordedRow::State::kRunning;
    row.duration = *row.ended - *row.started;
  } else if (ran.empty() && requested > 0) {
    row.state = RecordedRow::State::kPending;
  }
  return row;
}

Result<RecordedTrace> KubernetesTrace::Finish(std::string_view name,
                                              std::optional<Period> period) const {
  std::map<std::string, std::vector<Object>> wholes;
  for (const auto& [uid, object] : objects_) wholes[WholeOf(uid)].push_back(object);
  TraceBuilder builder;
  for (size_t pods = 0; pods < services_; ++pods) builder.LeaveOut("pods of services");
  for (auto& [uid, parts] : wholes) {
    const Source best =
        std::min_element(parts.begin(), parts.end(), [](const Object& a, const Object& b) {
          return a.source < b.source;
        })->source;
    StartWithPods(parts);
    std::erase_if(parts, [best](const Object& part) { return part.source != best; });
    RecordedRow row = RowOf(parts, period ? period->end : latest_);
    if (period && row.ended && *row.ended < period->end - period->length) {
      builder.LeaveOut("that ended earlier");
    } else {
      row.id = uid;
      builder.Add(std::move(row), true);
    }
  }
  return builder.Finish("Kubernetes' Jobs, Workloads and pods", name);
}

}  // namespace synergy::cli
