#pragma once

// Derives the record of a failure from a pod's status and its log's evidence, and joins and merges
// records.
//
// Threading: pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/pod_failure.h"
#include "core/clock.h"
#include "profile/log_evidence.h"
#include "profile/pod_act.h"
#include "profile/pod_xid.h"

namespace synergy::controller {

// Returns the end of the pod's container with GPUs, or else of another container; null if none
// failed.
const ContainerEnd* EndOf(const EndedPod& pod);
// Returns how the container ended in that run; null if the status lacks it.
const ContainerEnd* EndOf(const EndedPod& pod, const std::string& container, int32_t run);
// Returns when the pod ended according to its status; `now` if the status lacks the time.
WallTime TimeOf(const EndedPod& pod, const ContainerEnd* end, WallTime now);

// Facts about a run that its log does not contain, from its node's agent and from this program.
struct SeenOfRun {
  std::vector<PodXid> xids;  // on the container's GPUs
  std::vector<PodAct> acts;  // what Synergy did to the pod
};

// Returns nullopt if the pod did not fail: it completed, or was deleted without a further reason.
// The record's owner is the pod's own. `end` and `log` may be null.
std::optional<FailureRecord> JudgeFailure(const EndedPod& pod, const ContainerEnd* end,
                                          const LogEvidence* log, WallTime now,
                                          const SeenOfRun& seen = {});

// Returns the container that cannot be created because its image, or an object that its
// configuration names, is missing. Returns null if there is none.
const ContainerWait* NoStartOf(const EndedPod& pod);
// Returns the record of a pod that waits because of that container. It costs no GPU time yet.
FailureRecord JudgeNoStart(const EndedPod& pod, const ContainerWait& wait, WallTime now);

// Marks the records as those of one attempt. The record with the strongest evidence (StrengthOf)
// leads the attempt; among equals, the earliest record leads. REQUIRES: there is at least one
// record.
void JoinAttempt(std::vector<FailureRecord>& records);

// A run of a pod of a job. It is valid as long as its source.
struct PodRun {
  std::string_view uid;  // the pod's
  int32_t run = 0;
  WallTime created{};  // creation of the pod
  WallTime started{};  // start of the run; unset: unknown
  WallTime failed{};
};
PodRun RunOf(const FailureRecord& record);
// Returns whether `later` began because `earlier` had failed, and so belongs to a later attempt of
// the job.
bool IsRetry(const PodRun& later, const PodRun& earlier);

// Returns text such as "gpu-oom: GPU memory is exhausted (cause user, deterministic, advice fix):
// EVIDENCE".
std::string DescribeFailure(const FailureRecord& record);

// Returns the newest kMostFailureRecords of both lists, sorted by time and without duplicates.
std::vector<FailureRecord> MergeRecords(const std::vector<FailureRecord>& some,
                                        const std::vector<FailureRecord>& others);

}  // namespace synergy::controller
