#pragma once

// SYNERGY_CHECK(condition, "what must hold") prints file and line and aborts the process if an
// invariant is broken. A restart is cheap; a wrong decision about a pod is not. Use it only for our
// own invariants, never for input.
//
// This file is separate because it is a macro, which only its few users should see.

namespace synergy {

[[noreturn]] void CheckFailed(const char* condition, const char* what, const char* file, int line);

}  // namespace synergy

#define SYNERGY_CHECK(condition, what) \
  ((condition) ? static_cast<void>(0)  \
               : ::synergy::CheckFailed(#condition, what, __FILE__, __LINE__))
