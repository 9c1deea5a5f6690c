#pragma once

// Writes the CDI specification in which container runtimes look up this plugin's device names.
// NVIDIA's nvidia-ctk generates a complete one, with the driver's libraries and hooks. Without it,
// the plugin's own specification contains only the device nodes. If nvidia-ctk fails, as it may on
// a node that has just started, it is tried again, first after a minute, and less and less often.
//
// Threading: one owner at a time. Ownership: the file outlives the object, because pods that use
// its devices may restart. Failures: kUnavailable if the folder or file cannot be written.

#include <optional>
#include <string>
#include <vector>

#include "core/backoff.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "inventory/gpu.h"

namespace synergy::deviceplugin {

class CdiFile {
 public:
  // For "synergy.io/gpu" in /var/run/cdi the file is /var/run/cdi/synergy.io-gpu.json. `command` is
  // nvidia-ctk and any words that precede its arguments; empty: there is no command. The references
  // must outlive the object.
  CdiFile(const std::string& folder, std::string kind, std::vector<std::string> command,
          const Clock& clock, Logger& log);

  // Replaces the file atomically if its content differs or it is missing. Call it from time to
  // time.
  Result<> Write(const GpuInventory& inventory);

 private:
  // Returns `plain` completed by `command`.
  Result<std::string> Complete(const std::string& plain) const;

  const std::string folder_;
  const std::string kind_;
  const std::string file_;
  const std::vector<std::string> command_;
  const Clock& clock_;
  Logger& log_;
  std::string plain_;  // the plugin's own specification
  std::string text_;   // the resulting content of the file
  Backoff pauses_;
  std::optional<Instant> again_;  // when to try the command again; absent: it succeeded
  std::string problem_;           // the command's last problem
};

}  // namespace synergy::deviceplugin
