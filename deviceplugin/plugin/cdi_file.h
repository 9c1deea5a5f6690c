#pragma once

// The CDI specification that container runtimes look our device names up in. NVIDIA's own program
// (nvidia-ctk) writes a complete one, with the driver's libraries and hooks. Where it is not there,
// ours has the device nodes alone.
//
// Threading: one owner at a time. Ownership: the file stays when the object goes, because the pods
// that have its devices may start again.
// Failures: kUnavailable when the folder or file cannot be written.

#include <string>
#include <vector>

#include "core/log.h"
#include "core/result.h"
#include "inventory/gpu.h"

namespace synergy::deviceplugin {

class CdiFile {
 public:
  // "synergy.io/gpu" in /var/run/cdi: /var/run/cdi/synergy.io-gpu.json. `command` is nvidia-ctk
  // with what comes before its arguments; empty: none. `log` outlives the object.
  CdiFile(const std::string& folder, std::string kind, std::vector<std::string> command,
          Logger& log);

  // Replaces the file at once, if it says something else or is not there.
  Result<> Write(const GpuInventory& inventory);

 private:
  // `plain` made complete, where that is possible.
  std::string Complete(const std::string& plain) const;

  const std::string folder_;
  const std::string kind_;
  const std::string file_;
  const std::vector<std::string> command_;
  Logger& log_;
  std::string plain_;  // our own specification
  std::string text_;   // what the file has to say, for it
};

}  // namespace synergy::deviceplugin
