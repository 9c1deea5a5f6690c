#pragma once

// `synergy profiles`: lists the profiles and their sources (a user, or Synergy's measurements), and
// shows how a profile's throughput depends on CPU and memory.
//
// Threading: pure.

#include <string>
#include <string_view>

#include "cli/cluster/cluster_facts.h"
#include "cli/text/shown.h"
#include "cli/text/tree.h"
#include "core/clock.h"
#include "core/result.h"

namespace synergy::cli {

Shown ShowProfiles(const Profiles& profiles, bool with_namespace, WallTime now);
Shown ShowProfile(const ProfileObject& object, WallTime now);

Tree ToTree(const ProfileObject& object);
// Draws bars: by CPU with the most memory, and by memory with the most CPU.
std::string ProfileText(const ProfileObject& object, WallTime now);

// Returns the confidence: "confirmed" by probes, "estimated" from progress alone, or "drifted".
std::string_view ConfidenceOf(const MeasuredProfile& measured);

// Returns a measured profile as a user's TrainingProfile, ready for the API server, with a name
// that fits into a pod's label. Omits points that are only guesses, if there are others. Fails with
// kInvalid if nothing was measured.
Result<Tree> ToManifest(const ProfileObject& object);

}  // namespace synergy::cli
