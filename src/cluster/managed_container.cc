#include "cluster/managed_container.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace synergy {
namespace {

template <class Value, size_t kSize>
using Names = std::array<std::pair<Value, std::string_view>, kSize>;

constexpr Names<Enforcement, 2> kEnforcements{
    {{Enforcement::kShared, "shared"}, {Enforcement::kStrict, "strict"}}};

constexpr Names<Scope, 2> kScopes{{{Scope::kOptIn, "optIn"}, {Scope::kAll, "all"}}};

constexpr Names<ChangeKind, 9> kChangeKinds{{{ChangeKind::kAllocated, "Allocated"},
                                             {ChangeKind::kReclaimed, "Reclaimed"},
                                             {ChangeKind::kGrown, "Grown"},
                                             {ChangeKind::kDivided, "Divided"},
                                             {ChangeKind::kUndone, "Undone"},
                                             {ChangeKind::kLent, "Lent"},
                                             {ChangeKind::kReturned, "Returned"},
                                             {ChangeKind::kBorrowed, "Borrowed"},
                                             {ChangeKind::kGivenBack, "GivenBack"}}};

constexpr Names<ResizeState, 5> kResizeStates{{{ResizeState::kNone, "None"},
                                               {ResizeState::kInProgress, "InProgress"},
                                               {ResizeState::kDeferred, "Deferred"},
                                               {ResizeState::kInfeasible, "Infeasible"},
                                               {ResizeState::kRefused, "Refused"}}};

constexpr Names<DeviceSafety, 4> kDeviceSafeties{{{DeviceSafety::kUnknown, "unknown"},
                                                  {DeviceSafety::kSafe, "safe"},
                                                  {DeviceSafety::kUnsafe, "unsafe"},
                                                  {DeviceSafety::kLost, "lost"}}};

template <class Value, size_t kSize>
std::string_view NameOf(const Names<Value, kSize>& names, Value value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "unknown";
}

template <class Value, size_t kSize>
Result<Value> Parse(const Names<Value, kSize>& names, std::string_view text) {
  std::string choices;
  for (const auto& [value, name] : names) {
    if (name == text) return value;
    choices += fmt::format("{}{}", choices.empty() ? "" : ", ", name);
  }
  return Fail(ErrorCode::kInvalid, fmt::format("\"{}\" is not one of {}", text, choices));
}

}  // namespace

std::string_view ToString(Enforcement enforcement) { return NameOf(kEnforcements, enforcement); }
Result<Enforcement> ParseEnforcement(std::string_view text) { return Parse(kEnforcements, text); }
std::string_view ToString(Scope scope) { return NameOf(kScopes, scope); }
Result<Scope> ParseScope(std::string_view text) { return Parse(kScopes, text); }
std::string_view ToString(ChangeKind kind) { return NameOf(kChangeKinds, kind); }
Result<ChangeKind> ParseChangeKind(std::string_view text) { return Parse(kChangeKinds, text); }
std::string_view ToString(ResizeState state) { return NameOf(kResizeStates, state); }
std::string_view ToString(DeviceSafety safety) { return NameOf(kDeviceSafeties, safety); }
Result<DeviceSafety> ParseDeviceSafety(std::string_view text) {
  return Parse(kDeviceSafeties, text);
}

ChangeKind InverseOf(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kLent:
      return ChangeKind::kReturned;
    case ChangeKind::kReturned:
      return ChangeKind::kLent;
    case ChangeKind::kBorrowed:
      return ChangeKind::kGivenBack;
    case ChangeKind::kGivenBack:
      return ChangeKind::kBorrowed;
    default:
      return ChangeKind::kUndone;
  }
}

namespace {

// Returns the CPU of a loan that the pod requests but its node does not count, because the kubelet
// has refused the resize for good.
MilliCpu Uncounted(const ManagedContainer& pod) {
  const bool by_loan = IsOfLoan(pod.change->kind) && !pod.ChangedByHand() && !pod.Unrecorded();
  if (!by_loan || pod.resize != ResizeState::kInfeasible) return MilliCpu(0);
  const MilliCpu held = pod.Counted(LargerOf(pod.in_force, pod.set_aside)).cpu;
  return std::max(pod.Counted(pod.requested).cpu - held, MilliCpu(0));
}

}  // namespace

MilliCpu ManagedContainer::LoanBalance() const {
  if (!change) return MilliCpu(0);
  // The counted requests include the announced growth.
  const bool counted = Announced() && announced_until != WallTime{};
  if (const MilliCpu lent = Lends(); lent > MilliCpu(0)) {
    ResourceVector whole = requested;
    whole.cpu += lent;
    return counted ? MilliCpu(0) : Counted(whole).cpu - Counted(requested).cpu;
  }
  const bool grows = counted && change->kind == ChangeKind::kBorrowed;
  return Uncounted(*this) - (grows ? change->borrowed : Borrows());
}

ResourceVector ManagedContainer::WithinBounds(ResourceVector amounts) const {
  if (enforcement == Enforcement::kShared && cpu_limit)
    amounts.cpu = std::min(amounts.cpu, *cpu_limit - kLeastBelowLimit.cpu);
  amounts.cpu = Rounded(amounts.cpu);
  if (written.memory_limit) amounts.memory = std::min(amounts.memory, *written.memory_limit);
  amounts.cpu = std::max(amounts.cpu, floor.cpu);
  amounts.memory = std::max(amounts.memory, floor.memory);
  return WithinQosClass(amounts);
}

ResourceVector ManagedContainer::WithinQosClass(ResourceVector amounts) const {
  if (!cpu_limit || !memory_limit) return amounts;
  const bool strict = enforcement == Enforcement::kStrict;
  // CPU limits follow requests under `strict`, and memory limits unless the author wrote them.
  if (guaranteed) {
    if (!strict) amounts.cpu = requested.cpu;
    if (!strict || written.memory_limit) amounts.memory = requested.memory;
    return amounts;
  }
  if (!strict && requested.cpu < *cpu_limit)
    amounts.cpu = std::min(amounts.cpu, *cpu_limit - kLeastBelowLimit.cpu);
  if (requested.memory < *memory_limit) {
    const Bytes below = std::max(*memory_limit - kLeastBelowLimit.memory, requested.memory);
    amounts.memory = std::min(amounts.memory, below);
  }
  return amounts;
}

}  // namespace synergy
