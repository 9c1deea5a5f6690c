#pragma once

// `synergy profiles`: which there are, and how one's throughput depends on CPU and memory.
//
// Threading: pure.

#include <string>

#include "cli/cluster_facts.h"
#include "cli/tree.h"

namespace synergy::cli {

Tree ToTree(const Profiles& profiles);
std::string ProfileTable(const Profiles& profiles, bool with_namespace);

Tree ToTree(const ProfileObject& object);
// Bars: by CPU with the most memory, by memory with the most CPU.
std::string ProfileText(const ProfileObject& object);

}  // namespace synergy::cli
