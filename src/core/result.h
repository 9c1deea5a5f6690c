#pragma once

// A value, or the reason for its absence. Use an Error only for faults: that a pod does not fit is
// a result, not an Error.

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace synergy {

enum class ErrorCode {
  kInvalid,      // the input is wrong: do not retry
  kTooLarge,     // more than is accepted at once: request less
  kNotFound,     // the named object does not exist
  kConflict,     // another client changed the object first
  kGone,         // the resourceVersion is too old: list again
  kDenied,       // no permission, or refused by an admission rule
  kUnavailable,  // the other side is unreachable or unhealthy: a retry may help
  kOverloaded,   // refused without any effect: a later retry may help
  kTimeout,      // no answer in time: the request may have taken effect
  kCancelled,    // the caller requested a stop
};

std::string_view ToString(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string message;
};

template <class T = void>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return tl::make_unexpected(Error{code, std::move(message)});
}
inline tl::unexpected<Error> Fail(Error error) { return tl::make_unexpected(std::move(error)); }

// Returns whether the other side can process no request at all, so that other requests fail, too.
// Any other error concerns a single request.
inline bool IsOutage(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kOverloaded ||
         error.code == ErrorCode::kTimeout || error.code == ErrorCode::kCancelled;
}

}  // namespace synergy
