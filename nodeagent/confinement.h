#pragma once

// Takes from this process, and from those that it starts, the right to write any file but those of
// the pods' control groups and of a state folder: by Landlock (Linux 5.13). An agent that is taken
// over can neither stop nor move other processes of its node by their control groups.
//
// To be called once, before there are other threads. It denies looking into processes outside
// (/proc/PID/io and the like), too, whatever the capabilities.
//
// Failures: kUnavailable where the kernel has no Landlock; nothing is taken then.

#include <string>
#include <vector>

#include "core/result.h"

namespace synergy::nodeagent {

// The folders of all pods in all hierarchies of control groups that are there.
std::vector<std::string> FoldersOfPods(const std::string& cgroup_folder,
                                       const std::string& kubelet_cgroup_root);

// All of them exist.
Result<> ConfineWrites(const std::vector<std::string>& folders);

}  // namespace synergy::nodeagent
