#pragma once

// Writes the CDI specification in which container runtimes look up our device names. NVIDIA's
// nvidia-ctk generates a complete one, with the driver's libraries and hooks. Without it, ours
// contains only the device nodes.
//
// Threading: one owner at a time. Ownership: the file outlives the object, because pods that use
// its devices may be restarted.
// Failures: kUnavailable if the folder or file cannot be written.

#include <string>
#include <vector>

#include "core/log.h"
#include "core/result.h"
#include "inventory/gpu.h"

namespace synergy::deviceplugin {

class CdiFile {
 public:
  // "synergy.io/gpu" in /var/run/cdi is the file /var/run/cdi/synergy.io-gpu.json. `command` is
  // nvidia-ctk with the words before its arguments; empty: none. `log` outlives the object.
  CdiFile(const std::string& folder, std::string kind, std::vector<std::string> command,
          Logger& log);

  // Replaces the file atomically if its content differs or it is missing.
  Result<> Write(const GpuInventory& inventory);

 private:
  // Returns `plain` completed by `command`, if possible.
  std::string Complete(const std::string& plain) const;

  const std::string folder_;
  const std::string kind_;
  const std::string file_;
  const std::vector<std::string> command_;
  Logger& log_;
  std::string plain_;  // our own specification
  std::string text_;   // the file's content for it
};

}  // namespace synergy::deviceplugin
