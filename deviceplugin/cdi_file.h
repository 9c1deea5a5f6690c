#pragma once

// The CDI specification that container runtimes look our device names up in.
//
// Threading: one owner at a time. Ownership: the file goes with the object.
// Failures: kUnavailable when the folder or file cannot be written.

#include <string>

#include "core/result.h"
#include "inventory/gpu.h"

namespace synergy::deviceplugin {

class CdiFile {
 public:
  // "synergy.io/gpu" in /var/run/cdi: /var/run/cdi/synergy.io-gpu.json
  CdiFile(const std::string& folder, std::string kind);
  ~CdiFile();
  CdiFile(const CdiFile&) = delete;
  CdiFile& operator=(const CdiFile&) = delete;

  // Replaces the file at once, if it is to say something else.
  Result<> Write(const GpuInventory& inventory);

 private:
  const std::string folder_;
  const std::string kind_;
  const std::string file_;
  std::string written_;
};

}  // namespace synergy::deviceplugin
