#pragma once

// One RoundPolicy, one object of Kueue's, or a job or pod in its queues, from a parsed document; as
// object_readers.h. Private to this folder.
//
// Threading: pure.

#include <string_view>

#include "wire/json_words.h"
#include "wire/kueue.h"
#include "wire/queued_job.h"
#include "wire/round_policy.h"

namespace synergy::wire {

RoundPolicy ReadRoundPolicyObject(FieldReader& fields, Value object);
Workload ReadWorkloadObject(FieldReader& fields, Value object, std::string_view gpu_resource);
ClusterQueue ReadClusterQueueObject(FieldReader& fields, Value object,
                                    std::string_view gpu_resource);
LocalQueue ReadLocalQueueObject(FieldReader& fields, Value object);
QueuePart ReadQueuePartObject(FieldReader& fields, Value object);
// The controlling owner.
WorkloadOwner ReadOwner(FieldReader& fields, Value metadata);
QueuedJob ReadQueuedJobObject(FieldReader& fields, Value object);
QueuedPod ReadQueuedPodObject(FieldReader& fields, Value object, std::string_view gpu_resource);

}  // namespace synergy::wire
