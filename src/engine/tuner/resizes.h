#pragma once

// The part of the tuner that carries out changes of pods; PodChange of tuner_memory.h shows the
// steps.
//
// Threading: pure.

#include <memory>
#include <string>

#include "cluster/state/cluster_snapshot.h"
#include "engine/tuner/tuner_pass.h"

namespace synergy {

// Begin a change. For a running pod the CPU is changed first, and the memory once the new CPU is in
// force. REQUIRES: the pod is fungible, and no other change of it is in progress.
void Cut(TunerPass& pass, const std::shared_ptr<const Pod>& pod, const ResourceVector& to,
         ChangeKind kind, std::string why);
void Grow(TunerPass& pass, const std::shared_ptr<const Pod>& pod, const ResourceVector& to,
          std::string why);
// Begins a step of a loan, which changes the pod's CPU to `cpu`. `borrowed`: the part of `cpu` that
// other pods will lend. `borrower`: the same as in ChangeRecord. REQUIRES: IsOfLoan(kind).
void MoveLoan(TunerPass& pass, const std::shared_ptr<const Pod>& pod, ChangeKind kind, MilliCpu cpu,
              MilliCpu borrowed, std::string borrower, std::string why);
// Returns whether the node has enough CPU for its pods, their announced growth and their loans.
bool HasCpu(const ClusterSnapshot& cluster, const std::string& node);
// Takes over changes that a previous process left unfinished or did not record.
void TakeOverUnfinished(TunerPass& pass);
// Schedules TakeOverUnfinished() after a failure that may leave a change announced or unrecorded.
// The delay begins with some seconds, doubles with each further failure, and begins again with each
// round.
void TakeOverSoon(TunerMemory& memory, Duration round, Instant now);

// Advances the changes in progress.
void AdvanceChanges(TunerPass& pass);
void OnChangeResult(const TunerSettings& settings, TunerMemory& memory, const TunerAction& action,
                    bool done, Moment at);

}  // namespace synergy
