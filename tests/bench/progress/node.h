#pragma once

// Measures what following the logs of a node's pods costs a node agent.

namespace synergy::bench {

// Returns the CPU seconds per second if each of 8 pods prints 100 lines of a progress bar per
// second, in the kubelet's format: opening and reading the files, and parsing the lines.
double PartOfACoreToFollowLogs();

}  // namespace synergy::bench
