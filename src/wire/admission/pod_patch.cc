#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/text/quantity_text.h"
#include "json/writer.h"
#include "wire/admission/admission_objects.h"
#include "wire/base/json_words.h"
#include "wire/base/resource_list.h"
#include "wire/objects/object_readers.h"
#include "wire/objects/product_affinity.h"
#include "wire/pods/pod_writes.h"

namespace synergy::wire {
namespace {

// The longest copy of the container's original resources; a longer one is reduced to CPU and
// memory.
constexpr size_t kMostOriginalBytes = 4096;
// The mount path of the progress volume in the training container.
constexpr std::string_view kProgressFolder = "/run/synergy-progress";

JsonPatch::Path Annotation(std::string_view key) {
  return {"metadata", "annotations", std::string(key)};
}

Value ElementAt(Value array, size_t wanted) {
  Value found;
  size_t index = 0;
  array.ForEachElement([&](Value element) {
    if (index++ == wanted) found = element;
  });
  return found;
}

// Sets "cpu" and "memory" of a resource list.
class AmountSetter {
 public:
  AmountSetter(JsonPatch& patch, Value resources, JsonPatch::Path path)
      : patch_(patch), resources_(resources), path_(std::move(path)) {}

  void Set(const char* list, MilliCpu cpu) {
    Set(list, "cpu", ToQuantityText(cpu), ExactQuantity(Int128{cpu.count()} * 1'000'000));
  }
  void Set(const char* list, Bytes memory) {
    Set(list, "memory", ToQuantityText(memory),
        ExactQuantity(Int128{memory.count()} * 1'000'000'000));
  }

 private:
  // If the amount is already the present one, keeps its notation ("1" for "1000m").
  void Set(const char* list, const char* name, const std::string& text, ExactQuantity amount) {
    FieldReader fields(resources_);
    const Value present = resources_[list][name];
    if (!present.absent() && fields.Amount(present) == amount && fields.ok()) return;
    JsonPatch::Path path = path_;
    path.insert(path.end(), {list, name});
    patch_.SetText(path, text);
  }

  JsonPatch& patch_;
  Value resources_;
  JsonPatch::Path path_;
};

// Returns the container's resources as they were before Synergy changed them.
std::string OriginalResources(Value annotations, Value resources) {
  if (ReadOriginal(annotations, resources))
    return std::string(annotations[annotations::kOriginal].text());
  std::string original;
  AppendValue(original, resources);
  if (original.size() <= kMostOriginalBytes && resources.IsObject()) return original;
  original = "{";
  for (const char* list : {"limits", "requests"}) {
    original += fmt::format(R"({}"{}":{{)", original.size() > 1 ? "," : "", list);
    for (const char* name : {"cpu", "memory"}) {
      std::string amount;
      AppendValue(amount, resources[list][name]);
      if (amount.empty() || amount.size() > 64) continue;
      original += fmt::format(R"({}"{}":{})", original.back() == '{' ? "" : ",", name, amount);
    }
    original += '}';
  }
  return original + '}';
}

void SetAnnotations(JsonPatch& patch, Value annotations, Value resources,
                    const AdmissionFigures& figures) {
  std::set<std::string_view> written;
  const auto set = [&](std::string_view key, std::string_view text) {
    patch.SetText(Annotation(key), text);
    written.insert(key);
  };
  set(annotations::kContainer, figures.container_name);
  set(annotations::kOriginal, OriginalResources(annotations, resources));
  for (const auto& [key, text] : FiguresOf(figures)) {
    if (text) set(key, *text);
  }
  for (const std::string_view key : annotations::kWrittenByPrograms) {
    if (!written.contains(key)) patch.Remove(Annotation(key));
  }
}

// Returns whether `member` of an element in the array has the value `text`.
bool HasElement(Value array, std::string_view member, std::string_view text) {
  bool found = false;
  array.ForEachElement([&](Value element) { found |= element[member].text() == text; });
  return found;
}

// Adds variables from which data loaders can be sized. They hold the container's requests. If the
// container's speed is not measured yet, SYNERGY_CPUS holds the most CPU that it may get. A loader
// sized for its first cores would gain nothing from more. They come before the user's own
// variables, which may refer to these.
void AddVariables(JsonPatch& patch, Value env, const JsonPatch::Path& container,
                  std::optional<MilliCpu> most_cpu) {
  JsonPatch::Path path = container;
  path.emplace_back("env");
  for (const auto& [name, resource] : {std::pair("SYNERGY_CPUS", "requests.cpu"),
                                       std::pair("SYNERGY_MEMORY", "requests.memory")}) {
    if (HasElement(env, "name", name)) continue;
    if (most_cpu && resource == std::string_view("requests.cpu")) {
      const int64_t cores = (most_cpu->count() + 999) / 1000;
      patch.Prepend(path, fmt::format(R"({{"name":"{}","value":"{}"}})", name, cores));
      continue;
    }
    patch.Prepend(
        path,
        fmt::format(
            R"({{"name":"{}","valueFrom":{{"resourceFieldRef":{{"resource":"{}","divisor":"1"}}}}}})",
            name, resource));
  }
}

// Adds a volume for the file in which the training reports its progress. The volume is in memory: a
// volume on disk could fill the disk, and cluster-autoscaler keeps a node whose pods have such
// volumes. The author's entries with the same names stay.
void AddProgressVolume(JsonPatch& patch, Value spec, Value container, const JsonPatch::Path& path) {
  using annotations::kProgressVolume;
  const Value mounts = container["volumeMounts"];
  if (!HasElement(mounts, "name", kProgressVolume)) {
    // The API server refuses two mounts at one path.
    if (HasElement(mounts, "mountPath", kProgressFolder)) return;
    JsonPatch::Path mounts_path = path;
    mounts_path.emplace_back("volumeMounts");
    patch.Prepend(mounts_path, fmt::format(R"({{"name":"{}","mountPath":"{}"}})", kProgressVolume,
                                           kProgressFolder));
    if (!HasElement(container["env"], "name", "SYNERGY_PROGRESS_FILE")) {
      JsonPatch::Path env_path = path;
      env_path.emplace_back("env");
      patch.Prepend(env_path, fmt::format(R"({{"name":"SYNERGY_PROGRESS_FILE","value":"{}/{}"}})",
                                          kProgressFolder, annotations::kProgressFileName));
    }
  }
  if (HasElement(spec["volumes"], "name", kProgressVolume)) return;
  patch.Prepend(
      {"spec", "volumes"},
      fmt::format(R"({{"name":"{}","emptyDir":{{"medium":"Memory","sizeLimit":"64Ki"}}}})",
                  kProgressVolume));
}

// Lets CPU and memory change without a restart. Otherwise a pod that is never restarted could not
// be resized.
void SetResizePolicy(JsonPatch& patch, Value policies, const JsonPatch::Path& container) {
  bool cpu = false;
  bool memory = false;
  bool other = false;
  policies.ForEachElement([&](Value policy) {
    const bool gently = policy["restartPolicy"].text() == "NotRequired";
    if (policy["resourceName"].text() == "cpu" && gently) {
      cpu = true;
    } else if (policy["resourceName"].text() == "memory" && gently) {
      memory = true;
    } else {
      other = true;
    }
  });
  if (cpu && memory && !other) return;
  JsonPatch::Path path = container;
  path.emplace_back("resizePolicy");
  patch.Set(path, R"([{"resourceName":"cpu","restartPolicy":"NotRequired"},)"
                  R"({"resourceName":"memory","restartPolicy":"NotRequired"}])");
}

}  // namespace

void SetFigures(JsonPatch& patch, Value pod, const AdmissionFigures& figures,
                const AdmissionSettings& settings) {
  const Value container = ElementAt(pod["spec"]["containers"], figures.container);
  const Value resources = container["resources"];
  const JsonPatch::Path path{"spec", "containers", fmt::format("{}", figures.container)};
  SetAnnotations(patch, pod["metadata"]["annotations"], resources, figures);
  patch.SetText({"spec", "schedulerName"}, settings.scheduler_name);
  JsonPatch::Path amounts_path = path;
  amounts_path.emplace_back("resources");
  AmountSetter amounts(patch, resources, std::move(amounts_path));
  amounts.Set("requests", figures.floor.cpu);
  amounts.Set("requests", figures.floor.memory);
  if (figures.enforcement == Enforcement::kStrict) amounts.Set("limits", figures.floor.cpu);
  if (figures.memory_limit) amounts.Set("limits", *figures.memory_limit);
  AddVariables(patch, container["env"], path, figures.most_cpu);
  SetResizePolicy(patch, container["resizePolicy"], path);
  if (figures.progress_file) AddProgressVolume(patch, pod["spec"], container, path);
  if (!figures.gpu_product.empty()) SetProductAffinity(patch, pod["spec"], figures.gpu_product);
}

void SetWarnings(JsonPatch& patch, const std::vector<std::string>& warnings) {
  if (warnings.empty()) return;
  constexpr size_t kMostBytes = 2048;
  std::string text;
  for (const std::string& warning : warnings) {
    if (text.size() + warning.size() > kMostBytes) break;
    text += (text.empty() ? "" : "\n") + warning;
  }
  patch.SetText(Annotation(annotations::kWarnings), text);
}

void RemoveClaims(JsonPatch& patch, Value pod) {
  if (!pod["metadata"]["annotations"].IsObject()) return;
  for (const std::string_view key : annotations::kWrittenByPrograms) patch.Remove(Annotation(key));
}

}  // namespace synergy::wire
