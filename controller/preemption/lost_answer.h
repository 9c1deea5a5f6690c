#pragma once

// Decides whether a call to the API server that failed may have taken effect.
//
// Threading: pure.

#include "core/result.h"

namespace synergy::controller {

inline bool MayHaveBeenDone(const Error& error) {
  return error.code == ErrorCode::kTimeout || error.code == ErrorCode::kUnavailable;
}

}  // namespace synergy::controller
