#pragma once

// A value or the reason why there is none. For faults only: that a pod does not fit is an answer,
// not an Error.

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace synergy {

enum class ErrorCode {
  kInvalid,      // the input is wrong; trying again changes nothing
  kTooLarge,     // more than is taken at once: less may be asked for
  kNotFound,     // what was named does not exist
  kConflict,     // somebody else changed it first
  kGone,         // the resourceVersion is too old: list again
  kDenied,       // no permission, or refused by an admission rule
  kUnavailable,  // the other side cannot be reached or is not well: trying again may help
  kOverloaded,   // refused unseen, for now: nothing was done, trying again later may help
  kTimeout,      // no answer in time: whether it took effect is not known
  kCancelled,    // we were told to stop
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

}  // namespace synergy
