#include "http/proxy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <arpa/inet.h>

#include "core/result.h"
#include "http/url.h"

namespace synergy::http {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// An address of either IP version.
struct Address {
  int family = AF_INET;
  std::array<uint8_t, 16> bytes{};

  size_t size() const { return family == AF_INET ? 4 : 16; }
  bool IsLoopback() const {
    if (family == AF_INET) return bytes[0] == 127;
    return std::all_of(bytes.begin(), bytes.end() - 1, [](uint8_t byte) { return byte == 0; }) &&
           bytes.back() == 1;
  }
  // Returns whether both addresses have the same first `bits` bits.
  bool Shares(const Address& other, size_t bits) const {
    if (family != other.family) return false;
    const size_t whole = bits / 8;
    if (std::memcmp(bytes.data(), other.bytes.data(), whole) != 0) return false;
    return bits % 8 == 0 || ((bytes[whole] ^ other.bytes[whole]) >> (8 - bits % 8)) == 0;
  }
};

std::optional<Address> ParseAddress(const std::string& text) {
  for (const int family : {AF_INET, AF_INET6}) {
    Address address{.family = family};
    if (::inet_pton(family, text.c_str(), address.bytes.data()) == 1) return address;
  }
  return std::nullopt;
}

template <class Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A server, in the form that is compared with the entries of NO_PROXY.
struct Destination {
  std::string host;  // in lower case
  uint16_t port = 0;
  std::optional<Address> address;  // if the host is an address
};

bool MatchesRange(const std::string& entry, const Destination& to) {
  const size_t slash = entry.find('/');
  const std::optional<Address> first = ParseAddress(entry.substr(0, slash));
  const auto bits = ParseNumber<uint8_t>(std::string_view(entry).substr(slash + 1));
  return first && bits && *bits <= 8 * first->size() && to.address &&
         to.address->Shares(*first, *bits);
}

// Splits "host:port" and "[address]:port"; without a port, the whole text is the host.
std::pair<std::string, std::optional<uint16_t>> SplitPort(const std::string& entry) {
  const size_t colon = entry.rfind(':');
  if (colon == std::string::npos) return {entry, std::nullopt};
  const std::optional<uint16_t> port =
      ParseNumber<uint16_t>(std::string_view(entry).substr(colon + 1));
  std::string host = entry.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  // An IPv6 address without brackets has no port.
  if (!port || (!bracketed && host.find(':') != std::string::npos)) return {entry, std::nullopt};
  return {bracketed ? host.substr(1, host.size() - 2) : host, port};
}

bool MatchesDomain(std::string domain, const Destination& to) {
  if (domain.starts_with("*.")) domain.erase(0, 1);
  if (domain.empty() || to.address) return false;
  if (domain.front() == '.') return to.host.ends_with(domain);
  return to.host == domain || to.host.ends_with("." + domain);
}

bool Matches(const std::string& entry, const Destination& to) {
  if (entry == "*") return true;
  if (entry.find('/') != std::string::npos) return MatchesRange(entry, to);
  const auto [host, port] = SplitPort(entry);
  if (port && *port != to.port) return false;
  if (const std::optional<Address> address = ParseAddress(host))
    return to.address && to.address->Shares(*address, 8 * address->size());
  return MatchesDomain(host, to);
}

bool IsExempt(const BaseUrl& url, std::string_view exempt) {
  const std::string host = ToLower(url.host);
  const Destination to{host, url.port, ParseAddress(host)};
  if (host == "localhost" || (to.address && to.address->IsLoopback())) return true;
  while (!exempt.empty()) {
    const size_t end = std::min(exempt.find(','), exempt.size());
    if (Matches(ToLower(Trim(exempt.substr(0, end))), to)) return true;
    exempt.remove_prefix(std::min(end + 1, exempt.size()));
  }
  return false;
}

}  // namespace

std::string ProxyFor(const std::string& base_url, const ProxyVariables& variables) {
  const Result<BaseUrl> url = ParseBaseUrl(base_url);
  if (!url || IsExempt(*url, variables.exempt)) return {};
  return url->tls ? variables.https : variables.http;
}

}  // namespace synergy::http
