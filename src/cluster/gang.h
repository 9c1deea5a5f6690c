#pragma once

// Recognises which pods can only train together, from their own labels and annotations
// (docs/internals/gangs.md has the table).
//
// A gang has a size and a name. The size is the label synergy.io/gang-size, or Kueue's annotation
// for groups of pods; without a size there is no gang. The name is the first of synergy.io/gang and
// the labels that other tools write; pods of one namespace with the same name are one gang.
//
// Threading: pure.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "profile/spread_cost.h"

namespace synergy {

// Start of the extender's message for a gang that has room, and waits for room that is closer
// together.
inline constexpr std::string_view kWaitsForLocality = "it waits for room within one ";
// Bounds a gang: each member may wait in a thread of the extender until the last has its place.
inline constexpr int32_t kMostGangMembers = 256;

struct Gang {
  std::string name;     // with the namespace: "team/bert"
  int32_t size = 0;     // all of its members, including those without GPUs; 0 if there is a problem
  std::string problem;  // what is wrong with the pod's labels, and the cure; empty: nothing
  SpreadCost spread = {};

  bool operator==(const Gang&) const = default;
};

// Returns the text of a label or an annotation; empty if there is none.
using TextOfKey = std::function<std::string_view(std::string_view)>;

// Returns why a pod is in no gang although it belongs to others: such pods are created one after
// the other, each once the one before it has a node, so they would wait for each other forever.
// Returns an empty text if that is not so.
std::string WhyNoGang(const TextOfKey& label, const TextOfKey& annotation);

// Returns the gang of a pod with these labels and annotations; null for a pod that trains alone.
// Invalid values give a gang with a problem: such a pod must not be placed, because its author
// wants it with others.
std::shared_ptr<const Gang> RecogniseGang(std::string_view pod_namespace, const TextOfKey& label,
                                          const TextOfKey& annotation);

}  // namespace synergy
