#pragma once

// `synergy profiles`: which there are, whether somebody wrote them or Synergy measured them, and
// how one's throughput depends on CPU and memory.
//
// Threading: pure.

#include <string>
#include <string_view>

#include "cli/cluster/cluster_facts.h"
#include "cli/text/tree.h"
#include "core/clock.h"
#include "core/result.h"

namespace synergy::cli {

Tree ToTree(const Profiles& profiles);
std::string ProfileTable(const Profiles& profiles, bool with_namespace, WallTime now);

Tree ToTree(const ProfileObject& object);
// Bars: by CPU with the most memory, by memory with the most CPU.
std::string ProfileText(const ProfileObject& object, WallTime now);

// How sure what was measured is: "confirmed" by probes, "estimated" by progress alone, "drifted".
std::string_view ConfidenceOf(const MeasuredProfile& measured);

// What was measured as a TrainingProfile of a user's, whose name fits into a pod's label: the API
// server takes it as it is. Points that nobody has seen are left out. kInvalid: nothing was
// measured of it.
Result<Tree> ToManifest(const ProfileObject& object);

}  // namespace synergy::cli
