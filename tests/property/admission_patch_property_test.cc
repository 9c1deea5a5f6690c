// For any pod: the patch can be applied, it contains exactly what was decided, and a second patch
// is empty.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/json_tree.h"
#include "wire/admission/admission_review.h"

namespace synergy::wire {
namespace {

using synergy::testing::ApplyPatch;
using synergy::testing::JsonTree;
using synergy::testing::ParseJsonTree;

JsonTree Text(std::string text) { return {JsonTree::Kind::kString, std::move(text), {}, {}}; }
JsonTree Object() { return {JsonTree::Kind::kObject, {}, {}, {}}; }
JsonTree List() { return {JsonTree::Kind::kArray, {}, {}, {}}; }

bool Maybe() { return *rc::gen::arbitrary<bool>(); }

std::string OneOf(const std::vector<std::string>& choices) { return *rc::gen::elementOf(choices); }

JsonTree RandomList(const std::vector<std::string>& amounts) {
  if (*rc::gen::inRange(0, 6) == 0) return {};  // null
  JsonTree list = Object();
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "example.com/thing"}) {
    if (Maybe()) list.members[name] = Text(OneOf(amounts));
  }
  return list;
}

JsonTree RandomContainer(const std::string& name, bool gpus) {
  static const std::vector<std::string> kAmounts{"0",     "1",   "100m", "3",
                                                 "3000m", "60G", "1e3",  "9E"};
  JsonTree container = Object();
  container.members["name"] = Text(name);
  if (gpus || Maybe()) {
    JsonTree resources = Object();
    if (Maybe()) resources.members["requests"] = RandomList(kAmounts);
    if (gpus || Maybe()) resources.members["limits"] = RandomList(kAmounts);
    if (gpus) {
      resources.members["limits"].kind = JsonTree::Kind::kObject;
      resources.members["limits"].members["nvidia.com/gpu"] = Text("2");
    }
    container.members["resources"] = resources;
  }
  if (Maybe()) {
    JsonTree env = List();
    for (const char* variable : {"A", "SYNERGY_CPUS", "SYNERGY_MEMORY"}) {
      if (!Maybe()) continue;
      JsonTree element = Object();
      element.members["name"] = Text(variable);
      env.elements.push_back(element);
    }
    container.members["env"] = Maybe() ? env : JsonTree{};
  }
  if (Maybe()) {
    JsonTree policies = List();
    for (const char* resource : {"cpu", "memory"}) {
      if (!Maybe()) continue;
      JsonTree policy = Object();
      policy.members["resourceName"] = Text(resource);
      policy.members["restartPolicy"] = Text(OneOf({"NotRequired", "RestartContainer"}));
      policies.elements.push_back(policy);
    }
    container.members["resizePolicy"] = Maybe() ? policies : JsonTree{};
  }
  return container;
}

JsonTree RandomPod(size_t gpu_container, size_t containers) {
  JsonTree pod = Object();
  if (Maybe()) {
    JsonTree metadata = Object();
    if (Maybe()) {
      JsonTree annotations = Object();
      for (const char* key :
           {"a/b~c", "synergy.io/floor", "synergy.io/original", "synergy.io/change",
            "synergy.io/hold", "synergy.io/profile", "synergy.io/container", "synergy.io/demand"}) {
        if (Maybe()) {
          annotations.members[key] =
              Text(OneOf({"", "{}", "x", R"({"cpu":"3","memory":"60G"})", "\xc3\xbc"}));
        }
      }
      metadata.members["annotations"] = Maybe() ? annotations : JsonTree{};
    }
    pod.members["metadata"] = metadata;
  }
  JsonTree list = List();
  for (size_t i = 0; i < containers; ++i)
    list.elements.push_back(RandomContainer(fmt::format("c{}", i), i == gpu_container));
  pod.members["spec"] = Object();
  pod.members["spec"].members["containers"] = list;
  if (Maybe()) pod.members["spec"].members["schedulerName"] = Text("default-scheduler");
  return pod;
}

PodReview Read(const JsonTree& pod) {
  const auto review = PodReview::Read(
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",)"
      R"("operation":"CREATE","object":)" +
          pod.Write() + "}}",
      "nvidia.com/gpu");
  RC_ASSERT(review.has_value());
  RC_ASSERT(review->problem().empty());
  return *review;
}

AdmissionDecision RandomDecision(size_t container) {
  AdmissionFigures figures;
  figures.container = container;
  figures.container_name = fmt::format("c{}", container);
  figures.fair_share = {Gpus(2), MilliCpu(*rc::gen::inRange(1, 9000)), GB(60)};
  figures.demand = {Gpus(2), MilliCpu(*rc::gen::inRange(1, 9000)), GB(*rc::gen::inRange(1, 90))};
  figures.floor = LesserOf(figures.demand, figures.fair_share);
  figures.enforcement = Maybe() ? Enforcement::kStrict : Enforcement::kShared;
  if (Maybe()) figures.profile = "image";
  return {AdmissionOutcome::kManaged, figures, {}};
}

RC_GTEST_PROP(AdmissionPatchProperty, IsValidCompleteAndIdempotent, ()) {
  const auto containers = *rc::gen::inRange<size_t>(1, 5);
  const auto chosen = *rc::gen::inRange<size_t>(0, containers);
  const JsonTree pod = RandomPod(chosen, containers);
  const AdmissionDecision decision = RandomDecision(chosen);
  const auto patched = ApplyPatch(pod, Read(pod).WritePatch(decision, {}));
  RC_ASSERT(patched.has_value());
  RC_ASSERT(Read(*patched).WritePatch(decision, {}) == "[]");

  const std::string path = fmt::format("spec/containers/{}", chosen);
  const PodReview review = Read(*patched);
  RC_ASSERT(review.pod().gpu_containers.size() == 1U);
  RC_ASSERT(review.pod().gpu_containers[0].gpus == Gpus(2));
  const bool strict = decision.figures->enforcement == Enforcement::kStrict;
  if (strict) RC_ASSERT(patched->At(path + "/resources/limits").members.contains("cpu"));
  for (size_t i = 0; i < containers; ++i) {
    const std::string other = fmt::format("spec/containers/{}", i);
    if (i != chosen) RC_ASSERT(patched->At(other) == pod.At(other));
  }
  RC_ASSERT(patched->At(path + "/resizePolicy").elements.size() == 2U);
  for (const char* variable : {"SYNERGY_CPUS", "SYNERGY_MEMORY"}) {
    size_t count = 0;
    for (const JsonTree& element : patched->At(path + "/env").elements)
      count += element.At("name").text == variable ? 1U : 0U;
    RC_ASSERT(count == 1U);
  }
  for (const auto& [key, value] : pod.At("metadata/annotations").members) {
    if (key == "a/b~c") RC_ASSERT(patched->At("metadata/annotations/a~1b~0c") == value);
  }
}

RC_GTEST_PROP(AdmissionPatchProperty, UnmanagedPodLosesOnlyItsClaims, ()) {
  const JsonTree pod = RandomPod(0, 2);
  const AdmissionDecision left{AdmissionOutcome::kOptedOut, std::nullopt, {}};
  const auto patched = ApplyPatch(pod, Read(pod).WritePatch(left, {}));
  RC_ASSERT(patched.has_value());
  RC_ASSERT(patched->At("spec") == pod.At("spec"));
  RC_ASSERT(Read(*patched).WritePatch(left, {}) == "[]");
  RC_ASSERT(!patched->At("metadata/annotations").members.contains("synergy.io/container"));
}

}  // namespace
}  // namespace synergy::wire
