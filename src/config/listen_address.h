#pragma once

// The address that a server listens on.
//
// Threading: pure.
//
// This file is separate because probes parse addresses without YAML.

#include <cstdint>
#include <string>

#include "core/result.h"

namespace synergy::config {

struct ListenAddress {
  std::string host;  // without brackets; empty: all addresses, of IPv4 and IPv6
  uint16_t port = 0;
};

// Parses "127.0.0.1:8888", "[::1]:8888", ":8888" (all addresses). Returns kInvalid for anything
// else.
Result<ListenAddress> ParseListenAddress(const std::string& text);

}  // namespace synergy::config
