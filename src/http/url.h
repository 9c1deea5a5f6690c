#pragma once

// The parts of "https://host:port/prefix". Private to this folder.
//
// Threading: pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace synergy::http {

struct BaseUrl {
  bool tls = false;
  std::string host;  // without brackets
  uint16_t port = 0;
  std::string prefix;  // "" or "/prefix", without a trailing slash

  // Returns the text for a Host header.
  std::string HostAndPort() const;
};

Result<BaseUrl> ParseBaseUrl(const std::string& text);

// Returns the text with ASCII letters in lower case, as hosts and schemes are compared.
std::string ToLower(std::string_view text);

}  // namespace synergy::http
