#pragma once

// Quantities that nodes offer and pods take, each with its own type, so that cores and bytes cannot
// be mixed up.
//
// Threading: values. Failures: none. Arithmetic wraps around as in Go, so that subtracting an added
// amount always restores the former sum, however large the amount.

#include <compare>
#include <cstdint>

namespace synergy {

// Two's complement arithmetic without undefined overflow.
constexpr int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t WrapSubtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
constexpr int64_t WrapMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(int64_t count) : count_(count) {}

  // Returns the bare number, in the unit that the type names.
  constexpr int64_t count() const { return count_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) {
    count_ = WrapAdd(count_, other.count_);
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    count_ = WrapSubtract(count_, other.count_);
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, int64_t factor) {
    return Quantity(WrapMultiply(a.count_, factor));
  }
  friend constexpr Quantity operator*(int64_t factor, Quantity a) { return a * factor; }

 private:
  int64_t count_ = 0;
};

using Gpus = Quantity<struct GpusTag>;          // whole devices
using MilliCpu = Quantity<struct MilliCpuTag>;  // thousandths of a core, as Kubernetes counts them
using Bytes = Quantity<struct BytesTag>;

constexpr MilliCpu Cores(int64_t cores) { return MilliCpu(cores * 1000); }
constexpr Bytes MiB(int64_t count) { return Bytes(count << 20); }
constexpr Bytes GiB(int64_t count) { return Bytes(count << 30); }
constexpr Bytes GB(int64_t count) { return Bytes(count * 1'000'000'000); }

}  // namespace synergy
