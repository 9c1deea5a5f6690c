// Reads any text as a list of each kind that the controller and the node agent read, except the
// kinds of read_pod_fuzz.cc.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cluster/namespace_limits.h"
#include "core/check.h"
#include "json/text.h"
#include "queues/kueue.h"
#include "queues/round_policy.h"
#include "wire/objects/event_about_pod.h"
#include "wire/objects/objects.h"
#include "wire/objects/resize_status.h"
#include "wire/training_profile.h"

namespace synergy::wire {
namespace {

const ObjectReader& Reader() {
  static const ObjectReader reader("nvidia.com/gpu");
  return reader;
}

template <class T>
void CheckList(std::string_view text) {
  const Result<ListPage<T>> page = Reader().ReadList<T>(std::string(text));
  if (!page) {
    SYNERGY_CHECK(json::IsUtf8(page.error().message), "a message is UTF-8");
    return;
  }
  for (const std::string& problem : page->problems)
    SYNERGY_CHECK(json::IsUtf8(problem), "a problem is UTF-8");
}

void CheckProfiles(std::string_view text) {
  const auto page = Reader().ReadList<ProfileObject>(std::string(text));
  if (!page) return;
  for (const ProfileObject& object : page->items) {
    if (object.profile == nullptr) continue;
    const ResourceVector demand = object.profile->Demand(0, 1);
    SYNERGY_CHECK(demand.cpu >= MilliCpu(0) && demand.memory >= Bytes(0), "amounts are amounts");
  }
}

void CheckText(std::string_view text) {
  CheckProfiles(text);
  CheckList<ResizeStatus>(text);
  CheckList<AgentPod>(text);
  CheckList<Namespace>(text);
  CheckList<LimitRange>(text);
  CheckList<ResourceQuota>(text);
  CheckList<EventAboutPod>(text);
  CheckList<RoundPolicy>(text);
  CheckList<Workload>(text);
  CheckList<ClusterQueue>(text);
  CheckList<LocalQueue>(text);
  CheckList<ResourceFlavor>(text);
  CheckList<AdmissionCheck>(text);
  CheckList<Cohort>(text);
  CheckList<QueuedPod>(text);
  CheckList<QueuedJob>(text);
}

}  // namespace
}  // namespace synergy::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  synergy::wire::CheckText(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
