#pragma once

// Which file stands behind a name just now, so that a change is seen without reading it: a mounted
// secret changes by another inode behind the same name. Private to this folder.
//
// Threading: pure but for looking at the file.

#include <string>

namespace synergy::http {

// Equal as long as the file is; "missing" where there is none.
std::string FileIdentity(const std::string& file);

}  // namespace synergy::http
