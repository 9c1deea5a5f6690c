#include "controller/queues/job_events.h"

#include <utility>

#include "wire/kueue/kueue.h"

namespace synergy::controller {

kube::EventRecord AboutJob(const Workload& workload, std::string reason, std::string message) {
  kube::EventRecord event{.pod_namespace = workload.workload_namespace,
                          .pod_name = workload.owner.name,
                          .pod_uid = workload.owner.uid,
                          .type = "Normal",
                          .reason = std::move(reason),
                          .message = std::move(message),
                          .kind = workload.owner.kind,
                          .api_version = workload.owner.api_version};
  if (!event.pod_uid.empty()) return event;
  event.pod_name = workload.name;
  event.pod_uid = workload.uid;
  event.kind = "Workload";
  event.api_version = wire::kWorkloadVersion;
  return event;
}

bool IsOutdated(const Result<>& written) {
  return !written && (written.error().code == ErrorCode::kNotFound ||
                      written.error().code == ErrorCode::kConflict);
}

}  // namespace synergy::controller
