// Reads any text as each kind of object that comes from the API server or from kube-scheduler.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "json/document.h"
#include "json/text.h"
#include "wire/base/resource_list.h"
#include "wire/objects/objects.h"
#include "wire/pods/pod_writes.h"

namespace synergy::wire {
namespace {

void CheckUtf8(std::string_view text) {
  SYNERGY_CHECK(json::IsUtf8(text), "text from JSON is UTF-8");
}

void CheckAmounts(const Resources& resources, int64_t largest) {
  const auto in_range = [largest](int64_t amount) {
    return amount >= -largest && amount <= largest;
  };
  bool all = in_range(resources.main.gpus.count()) && in_range(resources.main.cpu.count()) &&
             in_range(resources.main.memory.count());
  for (const auto& [name, amount] : resources.other.entries())
    all = all && in_range(amount) && amount != 0;
  SYNERGY_CHECK(all, "amounts can be added up");
}

void CheckLabels(const Labels& labels) {
  SYNERGY_CHECK(std::is_sorted(labels.begin(), labels.end()), "labels are sorted");
  const auto equal_keys =
      std::adjacent_find(labels.begin(), labels.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  SYNERGY_CHECK(equal_keys == labels.end(), "keys are unique");
}

void CheckPod(const Pod& pod) {
  for (const std::string* const text : {&pod.uid, &pod.pod_namespace, &pod.name, &pod.node})
    CheckUtf8(*text);
  CheckLabels(pod.labels);
  CheckAmounts(pod.requests, kLargestRequest);
  if (pod.demand) {
    SYNERGY_CHECK(pod.requests.main.FitsWithin(*pod.demand), "the demand is at least the requests");
  }
  const std::string binding = WriteBinding(pod.pod_namespace, pod.name, pod.uid, pod.node);
  const Result<json::Document> written = json::Document::Parse(binding);
  SYNERGY_CHECK(written && written->root()["metadata"]["uid"].text() == pod.uid,
                "a binding is JSON");
}

void CheckNode(const Node& node) {
  CheckUtf8(node.name);
  CheckLabels(node.labels);
  CheckAmounts(node.allocatable, kLargestAllocatable);
}

template <class T, class Check>
void CheckPage(const Result<ListPage<T>>& page, Check check) {
  if (!page) return CheckUtf8(page.error().message);
  for (const std::string& problem : page->problems) CheckUtf8(problem);
  for (const T& item : page->items) check(item);
}

template <class T, class Check>
void CheckEvent(const Result<WatchEvent<T>>& event, Check check) {
  if (!event) return CheckUtf8(event.error().message);
  for (const std::string& problem : event->problems) CheckUtf8(problem);
  CheckUtf8(event->error.message);
  check(event->object);
}

void CheckText(std::string_view text) {
  static const ObjectReader reader("nvidia.com/gpu");
  for (const PodUse use : {PodUse::kIncoming, PodUse::kAccounted}) {
    const Result<Pod> pod = reader.ReadPod(text, use);
    if (!pod) {
      CheckUtf8(pod.error().message);
      continue;
    }
    CheckPod(*pod);
    const ResourceVector& main = pod->requests.main;
    SYNERGY_CHECK(use == PodUse::kAccounted ||
                      (main.gpus >= Gpus(0) && main.cpu >= MilliCpu(0) && main.memory >= Bytes(0)),
                  "an incoming pod never asks for less than nothing");
  }
  const Result<Node> node = reader.ReadNode(text);
  if (node) CheckNode(*node);
  const auto check_budget = [](const DisruptionBudget& budget) {
    budget.selector.Matches({{"a", "b"}});
  };
  CheckPage(reader.ReadList<Pod>(std::string(text)), CheckPod);
  CheckPage(reader.ReadList<Node>(std::string(text)), CheckNode);
  CheckPage(reader.ReadList<DisruptionBudget>(std::string(text)), check_budget);
  CheckEvent(reader.ReadWatchEvent<Pod>(text), CheckPod);
  CheckEvent(reader.ReadWatchEvent<Node>(text), CheckNode);
  CheckEvent(reader.ReadWatchEvent<DisruptionBudget>(text), check_budget);
  ReadStatus(text);
}

}  // namespace
}  // namespace synergy::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  synergy::wire::CheckText(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
