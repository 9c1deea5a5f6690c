#pragma once

// SYNERGY_CHECK(condition, "what must hold"): ends the process with file and line when a broken
// invariant is found. A restart is cheap, a wrong bind is not. For our own invariants only, never
// for input.

namespace synergy {

[[noreturn]] void CheckFailed(const char* condition, const char* what, const char* file, int line);

}  // namespace synergy

#define SYNERGY_CHECK(condition, what) \
  ((condition) ? static_cast<void>(0)  \
               : ::synergy::CheckFailed(#condition, what, __FILE__, __LINE__))
