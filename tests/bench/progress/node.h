#pragma once

// What it costs a node agent to follow the logs of a node's pods.

namespace synergy::bench {

// CPU seconds for a second in which each of 8 pods prints 100 lines of a progress bar, as the
// kubelet keeps them: opening and reading the files, and what the lines say.
double PartOfACoreToFollowLogs();

}  // namespace synergy::bench
