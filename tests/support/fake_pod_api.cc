#include "support/fake_pod_api.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/check.h"
#include "core/exact_quantity.h"
#include "core/text/quantity_text.h"
#include "core/wall_time.h"
#include "json/document.h"
#include "json/writer.h"
#include "wire/objects/objects.h"
#include "wire/pods/pod_writes.h"

namespace synergy::testing {
namespace {

// Reads the probe annotation without the checks of src/wire.
std::optional<CpuProbe> ReadProbe(const std::optional<std::string>& text) {
  const auto document = json::Document::Parse(text.value_or("{}"));
  const auto cpu = ParseExactQuantity(document->root()["cpu"].text());
  const auto until = ParseTime(document->root()["until"].text());
  if (!cpu || !until) return std::nullopt;
  return CpuProbe{MilliCpu(cpu->exact.ToMilli()), *until};
}

// Returns a managed pod with only these annotations, written by Synergy, read as any other pod is
// read.
Pod ReadAnnotated(const kube::AnnotationChanges& annotations) {
  constexpr std::string_view kAmounts = R"({"cpu":"1","memory":"1"})";
  json::Writer out;
  out.BeginObject();
  out.Key("metadata");
  out.BeginObject();
  out.Key("annotations");
  out.BeginObject();
  out.Key(annotations::kContainer);
  out.Text("train");
  for (const std::string_view key : {annotations::kDemand, annotations::kFloor}) {
    out.Key(key);
    out.Text(kAmounts);
  }
  for (const auto& [key, value] : annotations) {
    if (!value) continue;
    out.Key(key);
    out.Text(*value);
  }
  out.EndObject();
  out.Key("managedFields");
  out.Raw(
      R"([{"manager":"synergy","operation":"Update","time":"2100-01-01T00:00:00Z","fieldsV1":)"
      R"({"f:metadata":{"f:annotations":{"f:synergy.io/hold":{},"f:synergy.io/change":{},"f:synergy.io/turn":{}}}}}])");
  out.EndObject();
  out.Key("spec");
  out.Raw(R"({"schedulerName":"synergy-scheduler","containers":[{"name":"train","resources":)"
          R"({"requests":{"nvidia.com/gpu":"1"}}}]})");
  out.EndObject();
  const Result<Pod> pod =
      wire::ObjectReader("nvidia.com/gpu").ReadPod(out.Take(), wire::PodUse::kAccounted);
  SYNERGY_CHECK(pod && pod->fungible && pod->waiting, "annotations can be read");
  return *pod;
}

// Returns the amounts that the container takes from its node. While a resize is in progress, these
// are the largest of the requested, allocated and enforced amounts. Adds growth that is announced.
ResourceVector Counted(const ManagedContainer& fungible) {
  const ResourceVector held = LargerOf(fungible.in_force, fungible.set_aside);
  const ResourceVector counted =
      fungible.resize == ResizeState::kInfeasible ? held : LargerOf(fungible.requested, held);
  return counted + fungible.AnnouncedGrowth();
}

void Account(Pod& pod) {
  if (!pod.fungible) return;
  ManagedContainer fungible = *pod.fungible;
  if (!fungible.reported) fungible.in_force = fungible.set_aside = fungible.requested;
  pod.requests.main = Counted(fungible);
  const ResourceVector demand = fungible.demand + pod.requests.main - fungible.requested;
  pod.demand = LargerOf(demand, pod.requests.main);
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
}

// Returns whether this is true of a pod with only this container.
bool IsGuaranteed(const ManagedContainer& fungible) {
  return fungible.cpu_limit == fungible.requested.cpu &&
         fungible.memory_limit == fungible.requested.memory;
}

Result<> Patch(ManagedContainer& fungible, const ResourceVector& amounts, kube::Resized resized) {
  const auto patch = json::Document::Parse(wire::WriteResize("", fungible, amounts, resized, 0));
  std::optional<json::Value> resources;
  patch->root()["spec"]["containers"].ForEachElement(
      [&](json::Value container) { resources = container["resources"]; });
  const auto read = [&](const char* kind, const char* name) {
    const auto quantity = ParseExactQuantity((*resources)[kind][name].text());
    return quantity ? std::optional(quantity->exact) : std::nullopt;
  };
  if (const auto cpu = read("requests", "cpu")) fungible.requested.cpu = MilliCpu(cpu->ToMilli());
  if (const auto cpu = read("limits", "cpu")) fungible.cpu_limit = MilliCpu(cpu->ToMilli());
  if (const auto memory = read("requests", "memory"))
    fungible.requested.memory = Bytes(memory->ToMilli() / 1000);
  if (const auto memory = read("limits", "memory"))
    fungible.memory_limit = Bytes(memory->ToMilli() / 1000);
  if (IsGuaranteed(fungible) != fungible.guaranteed) {
    return Fail(ErrorCode::kInvalid, "Pod QOS Class may not change as a result of resizing");
  }
  // Synergy's field manager becomes the owner of fields that other clients had set.
  fungible.resized_by_us_alone = true;
  return {};
}

std::string Describe(const ResourceVector& amounts, kube::Resized resized) {
  if (resized == kube::Resized::kBoth) return DescribeCpuAndMemory(amounts);
  if (resized == kube::Resized::kCpu) return "cpu " + ToQuantityText(amounts.cpu);
  return "memory " + ToQuantityText(amounts.memory);
}

uint64_t Version(const Pod& pod, kube::Precondition precondition) {
  return precondition == kube::Precondition::kUnchanged ? pod.resource_version : 0;
}

}  // namespace

void FakePodApi::Refuse(std::string beginning, Error error) {
  before_call = [beginning = std::move(beginning),
                 error = std::move(error)](std::string_view call) -> Result<> {
    if (call.starts_with(beginning)) return Fail(error);
    return {};
  };
}

void FakePodApi::RefuseNothing() {
  before_call = [](std::string_view) { return Result<>(); };
}

void FakePodApi::Put(Pod pod) {
  const std::lock_guard lock(mutex_);
  if (pod.resource_version == 0) pod.resource_version = 1;
  if (pod.fungible) {
    auto fungible = std::make_shared<ManagedContainer>(*pod.fungible);
    fungible->guaranteed = IsGuaranteed(*fungible);
    pod.fungible = std::move(fungible);
  }
  Account(pod);
  std::string name = pod.name;
  pods_[std::move(name)] = {std::move(pod), {}};
}

void FakePodApi::Remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  pods_.erase(name);
}

void FakePodApi::Change(const std::string& name, const std::function<void(Pod&)>& change) {
  const std::lock_guard lock(mutex_);
  Pod& pod = Find(name).pod;
  change(pod);
  if (!pod.node.empty()) pod.waiting = nullptr;
  Account(pod);
  ++pod.resource_version;
}

void FakePodApi::ChangeManaged(const std::string& name,
                               const std::function<void(ManagedContainer&)>& change) {
  Change(name, [&](Pod& pod) {
    ManagedContainer fungible = *pod.fungible;
    change(fungible);
    pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  });
}

void FakePodApi::SettleOnNode(const std::string& name) {
  ChangeManaged(name, [](ManagedContainer& fungible) {
    fungible.reported = true;
    fungible.in_force = fungible.set_aside = fungible.requested;
    fungible.resize = ResizeState::kNone;
    fungible.resize_message.clear();
  });
}

FakePodApi::Kept& FakePodApi::Find(const std::string& name) {
  const auto it = pods_.find(name);
  SYNERGY_CHECK(it != pods_.end(), "the test has such a pod");
  return it->second;
}

Pod FakePodApi::pod(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto it = pods_.find(name);
  SYNERGY_CHECK(it != pods_.end(), "the test has such a pod");
  return it->second.pod;
}

std::optional<std::string> FakePodApi::annotation(const std::string& name,
                                                  std::string_view key) const {
  const std::lock_guard lock(mutex_);
  const auto kept = pods_.find(name);
  SYNERGY_CHECK(kept != pods_.end(), "the test has such a pod");
  const auto it = kept->second.annotations.find(key);
  if (it == kept->second.annotations.end()) return std::nullopt;
  return it->second;
}

std::vector<std::string> FakePodApi::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

Result<Pod> FakePodApi::Get(const std::string& pod_namespace, const std::string& name,
                            std::stop_token stop) {
  if (stop.stop_requested()) return Fail(ErrorCode::kCancelled, "stopped");
  if (const Result<> checked = before_call("get " + name); !checked) return Fail(checked.error());
  const std::lock_guard lock(mutex_);
  const auto it = pods_.find(name);
  if (it == pods_.end() || it->second.pod.pod_namespace != pod_namespace) {
    return Fail(ErrorCode::kNotFound, fmt::format("pods \"{}\" not found", name));
  }
  return it->second.pod;
}

Result<> FakePodApi::Bind(const kube::PodIdentity& pod, const std::string& node,
                          const kube::AnnotationChanges& annotations, uint64_t unchanged_since,
                          std::stop_token stop) {
  if (stop.stop_requested()) return Fail(ErrorCode::kCancelled, "stopped");
  const Result<Pod> bound = Write(
      pod, unchanged_since, fmt::format("bind {} {}", pod.name, node), [&](Kept& kept) -> Result<> {
        if (!kept.pod.node.empty()) {
          return Fail(ErrorCode::kConflict, fmt::format("pod {} is already assigned to node \"{}\"",
                                                        pod.name, kept.pod.node));
        }
        kept.pod.node = node;
        Annotate(kept, annotations);
        kept.pod.waiting = nullptr;
        return {};
      });
  if (!bound) return Fail(bound.error());
  return {};
}

Result<Pod> FakePodApi::Resize(const Pod& pod, const ResourceVector& amounts,
                               kube::Precondition precondition, kube::Resized resized,
                               std::stop_token stop) {
  if (stop.stop_requested()) return Fail(ErrorCode::kCancelled, "stopped");
  return Write(kube::IdentityOf(pod), Version(pod, precondition),
               fmt::format("resize {} {}", pod.name, Describe(amounts, resized)),
               [&](Kept& kept) -> Result<> {
                 ManagedContainer fungible = *kept.pod.fungible;
                 const Result<> patched = Patch(fungible, amounts, resized);
                 if (!patched) return patched;
                 kept.pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
                 return {};
               });
}

Result<Pod> FakePodApi::Annotate(const Pod& pod, const kube::AnnotationChanges& changes,
                                 kube::Precondition precondition, std::stop_token stop) {
  if (stop.stop_requested()) return Fail(ErrorCode::kCancelled, "stopped");
  std::string keys;
  for (const auto& [key, value] : changes) {
    keys += fmt::format("{}{}{}", keys.empty() ? "" : ", ", key, value ? "" : "-");
  }
  return Write(kube::IdentityOf(pod), Version(pod, precondition),
               fmt::format("annotate {} {}", pod.name, keys), [&](Kept& kept) -> Result<> {
                 Annotate(kept, changes);
                 return {};
               });
}

Result<Pod> FakePodApi::Write(const kube::PodIdentity& identity, uint64_t unchanged_since,
                              std::string call, const Edit& edit) {
  size_t place = 0;
  {
    const std::lock_guard lock(mutex_);
    place = calls_.size();
    calls_.push_back(call);
  }
  Result<Pod> answer = WriteUnnoted(identity, unchanged_since, call, edit);
  if (!answer) {
    const std::lock_guard lock(mutex_);
    calls_[place] += fmt::format(": {}", ToString(answer.error().code));
  }
  return answer;
}

Result<Pod> FakePodApi::WriteUnnoted(const kube::PodIdentity& identity, uint64_t unchanged_since,
                                     std::string_view call, const Edit& edit) {
  if (const Result<> checked = before_call(call); !checked) return Fail(checked.error());
  Pod changed;
  {
    const std::lock_guard lock(mutex_);
    const auto it = pods_.find(identity.name);
    if (it == pods_.end() || it->second.pod.pod_namespace != identity.pod_namespace) {
      return Fail(ErrorCode::kNotFound, fmt::format("pods \"{}\" not found", identity.name));
    }
    Pod& pod = it->second.pod;
    if (pod.uid != identity.uid) return Fail(ErrorCode::kConflict, "the UID is another one");
    if (unchanged_since != 0 && unchanged_since != pod.resource_version) {
      return Fail(ErrorCode::kConflict, "the object has been modified");
    }
    if (const Result<> edited = edit(it->second); !edited) return Fail(edited.error());
    Account(pod);
    ++pod.resource_version;
    changed = pod;
  }
  if (const Result<> checked = after_change(changed); !checked) return Fail(checked.error());
  return changed;
}

void FakePodApi::Annotate(Kept& kept, const kube::AnnotationChanges& changes) {
  const Pod read = ReadAnnotated(changes);
  for (const auto& [key, value] : changes) {
    if (value) {
      kept.annotations.insert_or_assign(std::string(key), *value);
    } else {
      kept.annotations.erase(std::string(key));
    }
    if (key == annotations::kKeptPlace && kept.pod.waiting) {
      Waiting waiting = *kept.pod.waiting;
      waiting.kept_node = read.waiting->kept_node;
      waiting.kept_until = read.waiting->kept_until;
      kept.pod.waiting = std::make_shared<const Waiting>(std::move(waiting));
    }
    if (!kept.pod.fungible) continue;
    ManagedContainer fungible = *kept.pod.fungible;
    if (key == annotations::kUnshrinkableUntil) {
      fungible.unshrinkable_until = read.fungible->unshrinkable_until;
    }
    if (key == annotations::kPlaceholder) fungible.placeholder = value.has_value();
    if (key == annotations::kProbe) fungible.probe = ReadProbe(value);
    if (key == annotations::kTurn) fungible.turn = read.fungible->turn;
    if (key == annotations::kProfile) fungible.profile = value.value_or("");
    if (key == annotations::kProfileGeneration)
      fungible.profile_generation = read.fungible->profile_generation;
    if (key == annotations::kMemoryLetBe) fungible.memory_let_be = value.has_value();
    if (key == annotations::kChange) {
      fungible.change = read.fungible->change;
      fungible.announced_until = WallTime::max();
      if (fungible.change) {
        fungible.change->from.gpus = fungible.change->to.gpus = fungible.requested.gpus;
      }
    }
    kept.pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  }
}

}  // namespace synergy::testing
