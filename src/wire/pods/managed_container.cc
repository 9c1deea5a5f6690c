#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "cluster/annotations.h"
#include "core/wall_time.h"
#include "wire/base/json_words.h"
#include "wire/base/resource_list.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

// The longest reason that is kept.
constexpr size_t kLongestReason = 256;
// The kernel's CPU shares express at most 256 cores, so a kubelet reports no more.
constexpr MilliCpu kMostReportedCpu = Cores(256);

Value FindByName(FieldReader& fields, Value list, std::string_view name) {
  Value found;
  fields.Array(list).ForEachElement([&](Value element) {
    if (element.IsObject() && element["name"].text() == name) found = element;
  });
  return found;
}

// Returns the CPU and memory of a ResourceList; `otherwise` replaces an absent one.
ResourceVector ReadCpuAndMemory(FieldReader& fields, Value list, const ResourceVector& otherwise) {
  const ResourceList amounts = ResourceList::Read(fields, list);
  ResourceVector read = otherwise;
  if (amounts.amounts().contains("cpu")) {
    read.cpu = MilliCpu(ToMilliCpu(amounts.amounts().at("cpu"), kLargestRequest));
  }
  if (amounts.amounts().contains("memory")) {
    read.memory = ToBytes(amounts.amounts().at("memory"), kLargestRequest);
  }
  return read;
}

// Reads JSON that one of Synergy's programs wrote into an annotation. `read` converts the root of
// the text, or returns nullopt if something is missing. Returns nullopt, and records a finding, for
// a text that Synergy did not write.
template <class Written, class Read>
std::optional<Written> ReadWrittenByUs(FieldReader& fields, Value annotation, std::string_view what,
                                       Read read) {
  if (annotation.absent()) return std::nullopt;
  const Result<Document> document = Document::Parse(fields.Text(annotation));
  if (!document) {
    fields.Report(annotation, document.error().message);
    return std::nullopt;
  }
  FieldReader inner(document->root());
  std::optional<Written> written = read(inner, document->root());
  fields.Adopt(annotation, inner);
  if (!inner.ok()) return std::nullopt;
  if (!written) fields.Report(annotation, what);
  return written;
}

std::optional<ChangeRecord> ReadChange(FieldReader& fields, Value root) {
  const Result<ChangeKind> kind = ParseChangeKind(fields.Text(fields.Object(root)["kind"]));
  const std::optional<ResourceVector> from = ReadAmounts(fields, root["from"]);
  const std::optional<ResourceVector> to = ReadAmounts(fields, root["to"]);
  const std::optional<WallTime> at = ParseTime(fields.Text(root["at"]));
  ChangeRecord change;
  change.memory_changed_before = ParseTime(fields.Text(root["memoryChangedBefore"]));
  change.why = fields.Text(root["why"]);
  if (!kind || !from || !to || !at) return std::nullopt;
  change.kind = *kind;
  change.from = *from;
  change.to = *to;
  change.at = *at;
  change.borrowed = MilliCpu(ToMilliCpu(fields.Amount(root["borrowed"]), kLargestRequest));
  change.borrower = fields.Text(root["borrower"]);
  return change;
}

std::optional<MemoryReading> ReadMemoryReading(FieldReader& fields, Value root) {
  const std::optional<ResourceVector> amounts = ReadAmounts(fields, root);
  const std::optional<WallTime> at = ParseTime(fields.Text(root["at"]));
  const bool node_short = fields.Truth(root["nodeShort"]);
  if (!amounts || !at) return std::nullopt;
  return MemoryReading{amounts->memory, node_short, *at};
}

std::optional<DeviceReading> ReadDevices(FieldReader& fields, Value root) {
  const Result<DeviceSafety> safety = ParseDeviceSafety(fields.Text(fields.Object(root)["safety"]));
  if (!safety) return std::nullopt;
  return DeviceReading{*safety, std::string(fields.Text(root["why"]).substr(0, kLongestReason)),
                       fields.Truth(root["resized"]),
                       std::string(fields.Text(root["container"]).substr(0, kLongestReason))};
}

std::optional<CpuProbe> ReadProbe(FieldReader& fields, Value root) {
  const MilliCpu cpu(ToMilliCpu(fields.Amount(fields.Object(root)["cpu"]), kLargestRequest));
  const std::optional<WallTime> until = ParseTime(fields.Text(root["until"]));
  if (cpu <= MilliCpu(0) || !until) return std::nullopt;
  return CpuProbe{cpu, *until, fields.Truth(root["burst"])};
}

Duration ReadOffset(FieldReader& fields, Value milliseconds) {
  return std::chrono::milliseconds(
      fields.Integer(milliseconds, 0, kLongestTurnCycle / std::chrono::milliseconds(1)));
}

std::optional<GpuTurn> ReadTurn(FieldReader& fields, Value root) {
  const std::optional<WallTime> epoch = ParseTime(fields.Text(fields.Object(root)["epoch"]));
  if (!epoch) return std::nullopt;
  GpuTurn turn{*epoch, ReadOffset(fields, root["cycleMs"]), {}, {}};
  turn.beside = fields.Text(root["beside"]);
  bool whole = true;
  fields.Array(root["runsMs"]).ForEachElement([&](Value part) {
    std::vector<Duration> ends;
    fields.Array(part).ForEachElement([&](Value offset) {
      whole &= ends.size() < 2;
      if (whole) ends.push_back(ReadOffset(fields, offset));
    });
    whole &= ends.size() == 2 && turn.runs.size() < kMostTurnParts;
    if (whole) turn.runs.push_back({ends[0], ends[1]});
  });
  fields.Array(root["with"]).ForEachElement([&](Value uid) {
    whole &= turn.with.size() < kMostTurnPartners;
    if (whole) turn.with.emplace_back(fields.Text(uid));
  });
  if (!whole || !turn.IsValid()) return std::nullopt;
  return turn;
}

// Reads the author's annotations about sharing a GPU in turns.
void ReadSharing(FieldReader& fields, Value annotations, SharingContainer& sharing) {
  sharing.may_pack = fields.Text(annotations[annotations::kPacking]) == "true";
  const Value memory = annotations[annotations::kGpuMemory];
  if (memory.absent()) return;
  const Bytes bytes(ToBytes(fields.Amount(memory), kLargestRequest));
  if (bytes > Bytes(0)) sharing.gpu_memory = bytes;
}

// Reads whether and when the kernel OOM-killed one of the containers. The status does not show the
// end of a child process that the container outlived.
void ReadOomKills(FieldReader& fields, Value statuses, ManagedContainer& fungible) {
  fields.Array(statuses).ForEachElement([&](Value container) {
    container = fields.Object(container);
    for (const Value state : {container["state"], container["lastState"]}) {
      const Value terminated = fields.Object(fields.Object(state)["terminated"]);
      if (fields.Text(terminated["reason"]) != "OOMKilled") continue;
      const std::optional<WallTime> at = ParseTime(fields.Text(terminated["finishedAt"]));
      if (at) fungible.oom_killed = std::max(fungible.oom_killed.value_or(*at), *at);
    }
  });
}

// "The node was low on resource: memory. Threshold quantity: ..."
bool EvictedForMemory(FieldReader& fields, Value status) {
  return fields.Text(status["reason"]) == "Evicted" &&
         fields.Text(status["message"]).find("low on resource: memory") != std::string_view::npos;
}

// Reads the container's amounts before Synergy changed them. A malformed annotation counts as none.
WrittenAmounts ReadWritten(FieldReader& fields, Value annotations, std::string_view container) {
  const std::string_view text = fields.Text(annotations[annotations::kOriginal]);
  if (text.empty()) return {};
  const Result<Document> document = Document::Parse(text);
  if (!document) return {};
  FieldReader inner(document->root());
  const WrittenAmounts written = ReadAmountsOf(inner, document->root());
  return inner.ok() ? WithoutDefaults(fields, annotations, written, container) : WrittenAmounts();
}

// Reads the conditions PodResizePending and PodResizeInProgress.
void ReadResize(FieldReader& fields, Value status, ManagedContainer& fungible) {
  fields.Array(status["conditions"]).ForEachElement([&](Value condition) {
    condition = fields.Object(condition);
    if (fields.Text(condition["status"]) != "True") return;
    const std::string_view type = fields.Text(condition["type"]);
    const std::string_view reason = fields.Text(condition["reason"]);
    if (type == "PodResizePending") {
      fungible.resize = reason == "Infeasible" ? ResizeState::kInfeasible : ResizeState::kDeferred;
    } else if (type == "PodResizeInProgress" && fungible.resize == ResizeState::kNone) {
      fungible.resize = reason == "Error" ? ResizeState::kRefused : ResizeState::kInProgress;
    } else {
      return;
    }
    fungible.resize_message = fields.Text(condition["message"]);
  });
}

// Returns whether only Synergy has resized the pod. A manager's entry in managedFields disappears
// once other managers have set all of its fields.
bool ResizedByUsAlone(FieldReader& fields, Value managed_fields) {
  bool ours = false;
  bool others = false;
  fields.Array(managed_fields).ForEachElement([&](Value entry) {
    entry = fields.Object(entry);
    if (fields.Text(entry["subresource"]) != "resize") return;
    (fields.Text(entry["manager"]) == annotations::kFieldManager ? ours : others) = true;
  });
  return ours && !others;
}

}  // namespace

std::shared_ptr<const ManagedContainer> ReadManagedContainer(FieldReader& fields, Value metadata,
                                                             Value spec, Value status, PodUse use,
                                                             const ClaimRules* claims,
                                                             std::string_view gpu_resource) {
  const Value annotations = fields.Object(metadata["annotations"]);
  const std::string_view name = fields.Text(annotations[annotations::kContainer]);
  if (name.empty()) return nullptr;
  const Value container = FindByName(fields, spec["containers"], name);
  const std::optional<ResourceVector> demand =
      ReadAmountsAnnotation(fields, annotations[annotations::kDemand]);
  const std::optional<ResourceVector> floor =
      ReadAmountsAnnotation(fields, annotations[annotations::kFloor]);
  if (container.missing() || !demand || !floor) return nullptr;

  auto fungible = std::make_shared<ManagedContainer>();
  fungible->container = name;
  fungible->profile = fields.Text(annotations[annotations::kProfile]);
  fungible->profile_generation =
      static_cast<int64_t>(fields.NumberInText(annotations[annotations::kProfileGeneration]));
  fungible->workload = fields.Text(annotations[annotations::kWorkload]);
  fungible->alike = ParseLooserIdentities(fields.Text(annotations[annotations::kWorkloadAlike]));
  fungible->hint = ParseLooserIdentity(fields.Text(annotations[annotations::kProfileHint]));
  const Result<Enforcement> enforcement =
      ParseEnforcement(fields.Text(annotations[annotations::kEnforcement]));
  if (enforcement) fungible->enforcement = *enforcement;

  const Value resources = fields.Object(container["resources"]);
  const Resources requests =
      ResourceList::Read(fields, resources["requests"]).ToResources(gpu_resource, kLargestRequest);
  const Gpus gpus = requests.main.gpus;
  fungible->requested = requests.main;
  const ResourceList limits = ResourceList::Read(fields, resources["limits"]);
  if (limits.amounts().contains("cpu")) {
    fungible->cpu_limit = ToMilliCpu(limits.amounts().at("cpu"), kLargestRequest);
  }
  if (limits.amounts().contains("memory")) {
    fungible->memory_limit = ToBytes(limits.amounts().at("memory"), kLargestRequest);
  }
  fungible->demand = *demand;
  fungible->floor = *floor;
  fungible->fair_share =
      ReadAmountsAnnotation(fields, annotations[annotations::kFairShare]).value_or(*floor);
  fungible->written = ReadWritten(fields, annotations, name);
  if (fields.Text(spec["nodeName"]).empty())
    fungible->beside = ReadBeside(fields, spec, name).requests;
  fungible->init_peak = ReadInitPeak(fields, spec, status, use, name);
  fungible->placeholder = !annotations[annotations::kPlaceholder].absent();
  fungible->in_force = fungible->requested;
  fungible->set_aside = fungible->requested;
  fungible->guaranteed = fields.Text(status["qosClass"]) == "Guaranteed";
  if (use == PodUse::kAccounted) {
    const Value reported = FindByName(fields, status["containerStatuses"], name);
    fungible->reported = !reported["resources"].absent();
    fungible->in_force = ReadCpuAndMemory(fields, fields.Object(reported["resources"])["requests"],
                                          fungible->requested);
    const ResourceList limits_in_force =
        ResourceList::Read(fields, fields.Object(reported["resources"])["limits"]);
    if (limits_in_force.amounts().contains("memory")) {
      fungible->memory_limit_in_force =
          ToBytes(limits_in_force.amounts().at("memory"), kLargestRequest);
    }
    fungible->set_aside =
        ReadCpuAndMemory(fields, reported["allocatedResources"], fungible->in_force);
    if (fungible->in_force.cpu == kMostReportedCpu)
      fungible->in_force.cpu = std::max(fungible->in_force.cpu, fungible->set_aside.cpu);
    ReadResize(fields, status, *fungible);
    ReadOomKills(fields, status["containerStatuses"], *fungible);
    ReadOomKills(fields, status["initContainerStatuses"], *fungible);
    fungible->evicted_for_memory = EvictedForMemory(fields, status);
    fungible->memory_reading =
        ReadWrittenByUs<MemoryReading>(fields, annotations[annotations::kMemoryInUse],
                                       "was not written by the node agent", ReadMemoryReading);
    fungible->devices =
        ReadWrittenByUs<DeviceReading>(fields, annotations[annotations::kDevices],
                                       "was not written by the node agent", ReadDevices);
    // A loss stops the resizes of all pods on the node, so it counts only if the agent wrote it.
    if (fungible->devices && !WrittenByNodeAgent(metadata, annotations::kDevices)) {
      fungible->devices->resized = false;
      if (fungible->devices->safety == DeviceSafety::kLost)
        fungible->devices->safety = DeviceSafety::kUnsafe;
    }
    fungible->resized_by_us_alone = ResizedByUsAlone(fields, metadata["managedFields"]);
  }
  fungible->change = ReadWrittenByUs<ChangeRecord>(
      fields, annotations[annotations::kChange], "is not a change that Synergy wrote", ReadChange);
  if (std::optional<ChangeRecord>& change = fungible->change) {
    change->from.gpus = gpus;
    change->to.gpus = gpus;
    // A loan is a claim on the node, so it counts only if Synergy wrote it.
    const bool of_loan = IsOfLoan(change->kind) || change->borrowed != MilliCpu(0);
    if (of_loan && !WrittenBySynergy(metadata, annotations::kChange)) {
      if (IsOfLoan(change->kind)) change->kind = ChangeKind::kUndone;
      change->borrowed = MilliCpu(0);
      change->borrower.clear();
    }
  }
  if (claims != nullptr && fungible->Announced()) {
    fungible->announced_until =
        ClaimedUntil(metadata, annotations::kChange, *claims).value_or(WallTime{});
  }
  // A probe slows a pod down, and a burst exceeds its limit, so they count only if Synergy wrote
  // them.
  if (WrittenBySynergy(metadata, annotations::kProbe)) {
    fungible->probe = ReadWrittenByUs<CpuProbe>(fields, annotations[annotations::kProbe],
                                                "is not a probe that Synergy wrote", ReadProbe);
  }
  // Turns suspend a pod, so they count only if Synergy wrote them.
  if (WrittenBySynergy(metadata, annotations::kTurn)) {
    fungible->turn = ReadWrittenByUs<GpuTurn>(fields, annotations[annotations::kTurn],
                                              "is not a turn that Synergy wrote", ReadTurn);
  }
  ReadSharing(fields, annotations, *fungible);
  fungible->unshrinkable_until =
      ParseTime(fields.Text(annotations[annotations::kUnshrinkableUntil]));
  fungible->memory_let_be = !annotations[annotations::kMemoryLetBe].absent();
  for (ResourceVector* amounts : {&fungible->demand, &fungible->floor, &fungible->fair_share,
                                  &fungible->in_force, &fungible->set_aside}) {
    amounts->gpus = gpus;
  }
  return fungible;
}

}  // namespace synergy::wire
