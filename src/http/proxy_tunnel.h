#pragma once

// Parses the URL of a proxy, and opens a tunnel through the proxy to a server. Private to this
// folder.
//
// Threading: pure, except for OpenTunnel(), which uses its channel. Messages never contain
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
  std::string authorization;  // value of the header Proxy-Authorization; empty: none

  // Returns the proxy's URL, without credentials, for messages.
  std::string ToText() const;
};

// Parses "http://user:password@proxy:3128", "https://proxy", "proxy:3128". Returns kInvalid for any
// other scheme, such as socks5.
Result<Proxy> ParseProxy(const std::string& url);

// Turns a channel to the proxy into one to `server`, by CONNECT. Returns kUnavailable if the proxy
// refuses, or does not answer in time.
Result<> OpenTunnel(Channel& channel, const Proxy& proxy, const BaseUrl& server,
                    std::chrono::milliseconds timeout);

}  // namespace synergy::http
