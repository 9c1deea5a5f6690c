#pragma once

// What Synergy may change of a pod: the CPU and memory of the one container that has its GPUs, and
// what has become of the changes so far. Read from the pod's annotations, spec and status.
//
// All amounts are that container's; `gpus` in them counts its GPUs.
//
// Threading: values; immutable once shared.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/resources.h"
#include "core/result.h"

namespace synergy {

// How an allocation is held against a container.
enum class Enforcement : uint8_t {
  kStrict,  // limits = requests = the allocation: what one leaves, nobody uses
  kShared,  // no CPU limits: what one leaves goes to the others by their allocations
};

std::string_view ToString(Enforcement enforcement);
Result<Enforcement> ParseEnforcement(std::string_view text);

enum class ChangeKind : uint8_t {
  kAllocated,  // at bind, by the extender
  kReclaimed,  // cut, so that another pod has room
  kGrown,
  kDivided,  // cut by a re-division, so that another pod grows
  kUndone,   // put back because the kubelet could not do it
};

std::string_view ToString(ChangeKind kind);
Result<ChangeKind> ParseChangeKind(std::string_view text);

// The last change. A growth is announced on the pod before it is made, so that the extender counts
// what is going to be taken.
struct ChangeRecord {
  ChangeKind kind = ChangeKind::kAllocated;
  ResourceVector from;
  ResourceVector to;
  std::string why;
  WallTime at{};

  bool operator==(const ChangeRecord&) const = default;
};

// What the kubelet says of a resize.
enum class ResizeState : uint8_t {
  kNone,
  kInProgress,
  kDeferred,    // does not fit now
  kInfeasible,  // never fits
  kRefused,     // in progress, and the last try failed: memory in use above the new limit
};

std::string_view ToString(ResizeState state);

struct Fungible {
  std::string container;
  std::string profile;  // a TrainingProfile of the pod's namespace; empty: none
  int64_t profile_generation = 0;
  Enforcement enforcement = Enforcement::kShared;
  ResourceVector floor;   // as admitted
  ResourceVector demand;  // as admitted
  ResourceVector fair_share;
  ResourceVector requested;           // spec
  std::optional<MilliCpu> cpu_limit;  // spec
  std::optional<Bytes> memory_limit;  // spec
  // By the kubelet: what is in force, and what it has set aside. The spec's before it says so.
  ResourceVector in_force;
  ResourceVector set_aside;
  bool reported = false;  // the kubelet does say so
  ResizeState resize = ResizeState::kNone;
  std::string resize_message;
  bool resized_by_us_alone = false;  // since it was created
  std::optional<ChangeRecord> change;
  std::optional<WallTime> unshrinkable_until;

  // What was announced, and is neither made nor contradicted yet.
  bool Announced() const { return change && requested == change->from && requested != change->to; }
  // Somebody else has changed the amounts.
  bool ChangedByHand() const { return Unexplained() && !resized_by_us_alone; }
  // One of us has changed them, and did not come to say so.
  bool Unrecorded() const { return Unexplained() && resized_by_us_alone; }
  // The kubelet does what the spec says.
  bool Settled() const { return in_force == requested && set_aside == requested; }

 private:
  bool Unexplained() const {
    return change && requested != change->to && requested != change->from;
  }
};

}  // namespace synergy
