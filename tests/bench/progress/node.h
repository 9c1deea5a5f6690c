#pragma once

// The cost to a node agent of following the logs of a node's pods.

namespace synergy::bench {

// Returns the CPU seconds for a second in which each of 8 pods prints 100 lines of a progress bar,
// in the kubelet's format: opening and reading the files, and parsing the lines.
double PartOfACoreToFollowLogs();

}  // namespace synergy::bench
