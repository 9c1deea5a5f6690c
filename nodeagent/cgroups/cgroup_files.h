#pragma once

// Small files of a control group.
//
// Threading: from any thread.
// Failures: kNotFound when the file, or the group meanwhile, is not there; kDenied without the
// right; kUnavailable otherwise. Messages name the file.

#include <string>

#include "core/result.h"

namespace synergy::nodeagent {

// At most 64 KiB.
Result<std::string> ReadCgroupFile(const std::string& file);

// What write() said, for callers to whom EAGAIN and EINTR mean something.
struct Written {
  bool done = false;
  int error = 0;  // errno when not done
};
Result<Written> WriteCgroupFile(const std::string& file, const std::string& text);

// The failure that errno stands for.
Error CgroupError(const std::string& file, int error);

}  // namespace synergy::nodeagent
