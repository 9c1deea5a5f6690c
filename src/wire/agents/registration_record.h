#pragma once

// The JSON file with the record of the registrations of synergy-device-plugin, which the plugin
// keeps across its own restarts. A reboot removes it.
//
// This file is separate because only the device plugin reads and writes this file.
//
// Threading: pure. Strings are UTF-8.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace synergy::wire {

struct RegisteredResource {
  std::string resource;
  // The start of the kubelet that accepted the last registration; empty: none yet.
  std::string kubelet;
  std::vector<std::string> ids;  // of all offered devices

  bool operator==(const RegisteredResource&) const = default;
};

struct RegistrationRecord {
  std::vector<RegisteredResource> resources;
  // Why the plugin has stopped, and which instance (pod) stopped; empty if none did.
  std::string stopped;
  std::string instance;

  bool operator==(const RegistrationRecord&) const = default;
};

// The longest text to read, in bytes.
inline constexpr size_t kLongestRegistrationRecord = size_t{1} << 20;

std::string WriteRegistrationRecord(const RegistrationRecord& record);
// Returns kInvalid, with the path to the error. Ignores additions of newer versions.
Result<RegistrationRecord> ReadRegistrationRecord(std::string_view text);

}  // namespace synergy::wire
