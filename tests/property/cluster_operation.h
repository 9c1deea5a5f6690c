#pragma once

// Random operations on a cluster with few nodes and few pods, so that they often interact.

#include <iosfwd>
#include <string>

#include <rapidcheck.h>

#include "cluster/node.h"
#include "cluster/pod.h"
#include "core/clock.h"

namespace synergy::testing {

inline constexpr int kNodeNames = 4;
inline constexpr int kPodNames = 7;

struct Operation {
  enum Kind {
    kUpsertNode,
    kRemoveNode,
    kReplaceNodes,
    kWatchWaiting,
    kWatchKept,  // waiting, with a kept place
    kWatchBound,
    kWatchTerminal,
    kRemovePod,
    kReplacePods,
    kExpect,
    kAssume,
    kForget,
    kExtend,
    kDropStaleExpectations,
    kSettleExpired,  // drops everything that Expired() names
    kKinds
  };

  int kind = 0;
  int node = 0;
  int pod = 0;
  // GPUs of the pod or, doubled, of the node; the other amounts have the same meaning
  int gpus = 0;
  int cores = 0;
  int gib = 0;
  int cards = 0;
  int second = 0;  // deadline or time
  int listed = 0;  // bit i: node or pod i is in the list
  int bound = 0;   // bit i: pod i is bound in the list
  int flags = 0;

  std::string NodeName() const { return "n" + std::to_string(node); }
  std::string PodName() const { return "p" + std::to_string(pod); }
  Instant Time() const { return Instant(std::chrono::seconds(second)); }
  WallTime Date() const { return WallTime(std::chrono::seconds(second)); }
  Node MakeNode(int which) const;
  // Returns a pod that is not bound.
  Pod MakePod(int which) const;
  // Returns a pod that is not bound, with a place on the node that is kept until `second`.
  Pod MakeKeptPod(int which) const;
  // Returns the node to which the pod is bound in the list.
  std::string ListedNode(int which) const {
    return "n" + std::to_string((node + which) % kNodeNames);
  }
  bool Listed(int which) const { return (listed >> which & 1) != 0; }
  bool Bound(int which) const { return (bound >> which & 1) != 0; }
};

std::ostream& operator<<(std::ostream& out, const Operation& operation);

}  // namespace synergy::testing

namespace rc {

template <>
struct Arbitrary<synergy::testing::Operation> {
  static Gen<synergy::testing::Operation> arbitrary();
};

}  // namespace rc
