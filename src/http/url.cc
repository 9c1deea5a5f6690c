#include "http/url.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace synergy::http {
namespace {

uint16_t DefaultPort(bool tls) { return tls ? 443 : 80; }

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Returns whether `text` may be part of a host or a path: it has no spaces or line ends, which
// would end the request line.
bool IsPlain(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f || c == '@' || c == '?' || c == '#' || c == '\\') return false;
  }
  return true;
}

}  // namespace

std::string BaseUrl::HostAndPort() const {
  const bool v6 = host.find(':') != std::string::npos;
  std::string text = v6 ? "[" + host + "]" : host;
  if (port != DefaultPort(tls)) text += fmt::format(":{}", port);
  return text;
}

Result<BaseUrl> ParseBaseUrl(const std::string& text) {
  const auto invalid = [&text](std::string_view what) {
    return Fail(ErrorCode::kInvalid, fmt::format("URL \"{}\": {}", text, what));
  };
  std::string_view rest = text;
  BaseUrl url;
  if (TakePrefix(rest, "https://")) {
    url.tls = true;
  } else if (!TakePrefix(rest, "http://")) {
    return invalid("must start with http:// or https://");
  }
  if (!IsPlain(rest)) return invalid("must only have a host, a port and a path");

  std::string_view authority = rest.substr(0, rest.find('/'));
  rest.remove_prefix(authority.size());
  while (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
  url.prefix = rest;

  size_t host_end = authority.find(':');
  if (TakePrefix(authority, "[")) {
    host_end = authority.find(']');
    if (host_end == std::string_view::npos) return invalid("a bracket is not closed");
    url.host = authority.substr(0, host_end);
    authority.remove_prefix(host_end + 1);
  } else {
    url.host = authority.substr(0, host_end);
    authority.remove_prefix(url.host.size());
  }
  if (url.host.empty()) return invalid("has no host");
  url.port = DefaultPort(url.tls);
  if (!authority.empty()) {
    if (!TakePrefix(authority, ":")) return invalid("unexpected text between host and port");
    const auto [end, error] =
        std::from_chars(authority.data(), authority.data() + authority.size(), url.port);
    if (error != std::errc() || end != authority.data() + authority.size() || url.port == 0) {
      return invalid("the port is not a number from 1 to 65535");
    }
  }
  return url;
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace synergy::http
