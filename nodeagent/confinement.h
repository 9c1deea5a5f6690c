#pragma once

// Uses Landlock (Linux 5.13) to deny this process and its children the right to write any files
// except those in the pods' control groups and in a state folder. A compromised agent can then
// neither stop nor move other processes of its node through their control groups.
//
// Landlock also denies inspecting other processes (such as /proc/PID/io), whatever capabilities
// this process has.
//
// Threading: call ConfineWrites() once, before other threads exist. Failures: kUnavailable if the
// kernel has no Landlock; the process then keeps all its rights.

#include <string>
#include <vector>

#include "core/result.h"

namespace synergy::nodeagent {

// Returns the folders that contain all pods, in all mounted hierarchies of control groups.
std::vector<std::string> FoldersOfPods(const std::string& cgroup_folder,
                                       const std::string& kubelet_cgroup_root);

// Denies this process to write outside `folders`, for good. REQUIRES: all folders exist.
Result<> ConfineWrites(const std::vector<std::string>& folders);

}  // namespace synergy::nodeagent
