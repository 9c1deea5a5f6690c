#pragma once

// Which pods can only train together, by what each of them carries (docs/gangs.md has the table).
//
// A gang has a size and a name. The size is the label synergy.io/gang-size, or Kueue's annotation
// for groups of pods; what says no size is no gang. The name is the first of synergy.io/gang and
// the labels that other tools write; pods of one namespace and one name are one gang.
//
// Threading: pure.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "profile/spread_cost.h"

namespace synergy {

// Begins what the extender says of a gang that has room, and waits for some that is nearer
// together.
inline constexpr std::string_view kWaitsForLocality = "it waits for room within one ";
// Limits a gang: each member may wait in a thread of the extender's until the last has its place.
inline constexpr int32_t kMostGangMembers = 256;

struct Gang {
  std::string name;     // with the namespace: "team/bert"
  int32_t size = 0;     // all of its members, those without GPUs too; 0 where there is a problem
  std::string problem;  // what is wrong with the pod's words, and the cure; empty: nothing
  SpreadCost spread = {};

  bool operator==(const Gang&) const = default;
};

// The text of a label or an annotation; empty where there is none.
using TextOfKey = std::function<std::string_view(std::string_view)>;

// Why a pod is of no gang though it belongs to others: its like are created one after the other,
// each when one before it has a node, so that they would wait for each other for good. Empty where
// that is not so.
std::string WhyNoGang(const TextOfKey& label, const TextOfKey& annotation);

// The gang of a pod with these labels and annotations; null for a pod that trains alone. Words that
// make no sense give a gang with a problem: such a pod is not to be placed, because its author
// wants it with others.
std::shared_ptr<const Gang> RecogniseGang(std::string_view pod_namespace, const TextOfKey& label,
                                          const TextOfKey& annotation);

}  // namespace synergy
