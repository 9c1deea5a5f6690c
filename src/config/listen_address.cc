#include "config/listen_address.h"

#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace synergy::config {

Result<ListenAddress> ParseListenAddress(const std::string& text) {
  const auto fail = [&text] {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("\"{}\" is not host:port, as in 127.0.0.1:8888, [::1]:8888 or :8888", text));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return fail();
  ListenAddress address;
  address.host = text.substr(0, colon);
  if (address.host.size() >= 2 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (address.host.find(':') != std::string::npos) {
    return fail();
  }
  const auto [end, error] =
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), address.port);
  if (error != std::errc() || end != text.data() + text.size() || colon + 1 == text.size())
    return fail();
  return address;
}

}  // namespace synergy::config
