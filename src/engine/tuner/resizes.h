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

// These two begin a change. REQUIRES: the pod is fungible, and no other change of it is in
// progress. For a running pod the CPU is changed first, and the memory once that is in force.
void Cut(TunerPass& pass, const std::shared_ptr<const Pod>& pod, const ResourceVector& to,
         ChangeKind kind, std::string why);
void Grow(TunerPass& pass, const std::shared_ptr<const Pod>& pod, const ResourceVector& to,
          std::string why);
// Begins a step of a loan (IsOfLoan of `kind`) to `cpu`. `borrowed`: the part of `cpu` that others
// will lend. `borrower`: the same as in ChangeRecord.
void MoveLoan(TunerPass& pass, const std::shared_ptr<const Pod>& pod, ChangeKind kind, MilliCpu cpu,
              MilliCpu borrowed, std::string borrower, std::string why);
// Returns whether the node has CPU for its pods, including what is announced for them and what is
// kept for loans.
bool HasCpu(const ClusterSnapshot& cluster, const std::string& node);
// Takes over changes that a previous process left unfinished or did not record.
void TakeOverUnfinished(TunerPass& pass);
// Plans TakeOverUnfinished() after a failure that may leave a change announced or unrecorded: after
// some seconds, and twice as long after each further failure until the next round.
void TakeOverSoon(TunerMemory& memory, Duration round, Instant now);

// Advances the changes in progress.
void AdvanceChanges(TunerPass& pass);
void OnChangeResult(const TunerSettings& settings, TunerMemory& memory, const TunerAction& action,
                    bool done, Moment at);

}  // namespace synergy
