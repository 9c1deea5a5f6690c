#include "cluster/separation.h"

#include <algorithm>
#include <string_view>

namespace synergy {
namespace {

constexpr std::string_view kEveryAddress = "0.0.0.0";

bool Overlap(const HostPort& a, const HostPort& b) {
  return a.port == b.port && a.protocol == b.protocol &&
         (a.ip == b.ip || a.ip == kEveryAddress || b.ip == kEveryAddress);
}

}  // namespace

bool ShareAPort(const Separation& a, const Separation& b) {
  return std::any_of(a.host_ports.begin(), a.host_ports.end(), [&](const HostPort& port) {
    return std::any_of(b.host_ports.begin(), b.host_ports.end(),
                       [&](const HostPort& other) { return Overlap(port, other); });
  });
}

}  // namespace synergy
