#pragma once

// A proxy that a client reaches its server through, and the beginning of a connection by it.
// Private to this folder.
//
// Threading: pure, but for OpenTunnel(), which uses its channel. Messages never contain
// credentials.

#include <chrono>
#include <string>

#include "core/result.h"
#include "http/channel.h"
#include "http/tls.h"
#include "http/url.h"

namespace synergy::http {

struct Proxy {
  BaseUrl url;
  std::string authorization;  // of the header Proxy-Authorization; empty: none

  // The text for messages.
  std::string ToText() const;
};

// Parses "http://user:password@proxy:3128", "https://proxy", "proxy:3128". kInvalid for any other
// scheme, such as socks5.
Result<Proxy> ParseProxy(const std::string& url);

// Makes a channel to the proxy one to `server`, by CONNECT. kUnavailable if the proxy refuses, or
// does not answer in time.
Result<> OpenTunnel(Channel& channel, const Proxy& proxy, const BaseUrl& server,
                    std::chrono::milliseconds timeout);

}  // namespace synergy::http
