#pragma once

// How many files and connections the process may have open.
//
// Threading: from any thread.

#include <cstddef>

namespace synergy::daemon {

// Raises the limit as far as it may be (many container runtimes start processes with 1024, for the
// sake of programs that use select()), and says what it is now.
size_t RaiseDescriptorLimit();

}  // namespace synergy::daemon
