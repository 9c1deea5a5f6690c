#pragma once

// The tuner's part that sees changes of pods through: PodChange of tuner_memory.h draws their way.
//
// Threading: pure.

#include <memory>
#include <string>

#include "engine/tuner/turn.h"

namespace synergy {

// Begins a change. Nothing else is under way for the pod, which is fungible. Of a running pod the
// CPU is changed first, and the memory once that is in force.
void Cut(Turn& turn, const std::shared_ptr<const Pod>& pod, const ResourceVector& to,
         ChangeKind kind, std::string why);
void Grow(Turn& turn, const std::shared_ptr<const Pod>& pod, const ResourceVector& to,
          std::string why);
// Takes over what a predecessor left half done, or made and did not come to record.
void TakeOverUnfinished(Turn& turn);

// Looks after what is under way.
void AdvanceChanges(Turn& turn);
void LearnOfChange(const TunerSettings& settings, TunerMemory& memory, const TunerAction& action,
                   bool done, Moment at);

}  // namespace synergy
