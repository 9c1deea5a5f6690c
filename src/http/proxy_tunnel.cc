#include "http/proxy_tunnel.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace synergy::http {
namespace {

constexpr std::string_view kForm =
    "write http://HOST:PORT, or with percent-encoded credentials http://USER:PASSWORD@HOST:PORT";
constexpr size_t kLongestHead = size_t{16} << 10;
constexpr size_t kShownOfAStatus = 100;

// Decodes by RFC 3986, section 2.1; returns nullopt if the text is malformed.
std::optional<std::string> Unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    uint8_t byte = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const char* const digits = text.data() + i + 1;
    const auto [end, error] = std::from_chars(digits, digits + 2, byte, 16);
    if (error != std::errc() || end != digits + 2) return std::nullopt;
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

// Encodes by RFC 7617; returns nullopt if the credentials are malformed.
std::optional<std::string> BasicAuthorization(std::string_view user_info) {
  const size_t colon = std::min(user_info.find(':'), user_info.size());
  const std::optional<std::string> user = Unescape(user_info.substr(0, colon));
  const std::optional<std::string> password =
      Unescape(user_info.substr(std::min(colon + 1, user_info.size())));
  if (!user || !password) return std::nullopt;
  const std::string plain = *user + ":" + *password;
  std::string encoded((plain.size() + 2) / 3 * 4 + 1, '\0');
  const int size = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                     reinterpret_cast<const unsigned char*>(plain.data()),
                                     static_cast<int>(plain.size()));
  encoded.resize(static_cast<size_t>(size));
  return "Basic " + encoded;
}

// Returns "host:port", always with the port.
std::string Authority(const BaseUrl& url) {
  const bool v6 = url.host.find(':') != std::string::npos;
  return fmt::format("{}:{}", v6 ? "[" + url.host + "]" : url.host, url.port);
}

// Returns an answer's head; nullopt if the channel ends first, or if the head is too long.
std::optional<std::string> ReadHead(Channel& channel) {
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    char byte = 0;
    if (head.size() == kLongestHead || channel.Read(&byte, 1) != 1) return std::nullopt;
    head += byte;
  }
  return head;
}

bool IsSuccess(std::string_view head) {
  return head.starts_with("HTTP/1.") && head.substr(std::min<size_t>(8, head.size()), 2) == " 2";
}

// Returns text such as "407 Proxy Authentication Required".
std::string StatusText(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\r'));
  const size_t space = std::min(line.find(' '), line.size());
  return std::string(line.substr(std::min(space + 1, line.size())).substr(0, kShownOfAStatus));
}

}  // namespace

std::string Proxy::ToText() const {
  return fmt::format("{}://{}", url.tls ? "https" : "http", url.HostAndPort());
}

Result<Proxy> ParseProxy(const std::string& url) {
  const auto malformed = [] {
    return Fail(ErrorCode::kInvalid, fmt::format("the proxy's URL is malformed: {}", kForm));
  };
  std::string_view rest = url;
  std::string scheme = "http";
  if (const size_t end = rest.find("://"); end != std::string_view::npos) {
    scheme = ToLower(rest.substr(0, end));
    rest.remove_prefix(end + 3);
  }
  if (scheme.starts_with("socks")) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("the proxy's URL: SOCKS proxies are not supported: {}", kForm));
  }
  if (scheme != "http" && scheme != "https") return malformed();
  Proxy proxy;
  const size_t at = rest.substr(0, rest.find('/')).rfind('@');
  if (at != std::string_view::npos) {
    std::optional<std::string> authorization = BasicAuthorization(rest.substr(0, at));
    if (!authorization) return malformed();
    proxy.authorization = *std::move(authorization);
    rest.remove_prefix(at + 1);
  }
  // Replace the parser's error, which would show malformed credentials.
  Result<BaseUrl> parsed = ParseBaseUrl(fmt::format("{}://{}", scheme, rest));
  if (!parsed) return malformed();
  proxy.url = *std::move(parsed);
  return proxy;
}

Result<> OpenTunnel(Channel& channel, const Proxy& proxy, const BaseUrl& server,
                    std::chrono::milliseconds timeout) {
  const std::string target = Authority(server);
  std::string request = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", target);
  if (!proxy.authorization.empty())
    request += fmt::format("Proxy-Authorization: {}\r\n", proxy.authorization);
  request += "\r\n";
  channel.SetDeadline(std::chrono::steady_clock::now() + timeout);
  channel.Write(request.data(), request.size());
  const std::optional<std::string> head = ReadHead(channel);
  channel.SetDeadline(std::chrono::steady_clock::time_point::max());
  if (head && IsSuccess(*head)) return {};
  if (channel.state() == Channel::State::kWoken) return Fail(ErrorCode::kCancelled, "stopped");
  return Fail(ErrorCode::kUnavailable, fmt::format("does not connect to {}: {}", target,
                                                   head ? StatusText(*head) : channel.problem()));
}

}  // namespace synergy::http
