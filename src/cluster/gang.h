#pragma once

// Recognises, from pods' labels and annotations, which pods can only train together
// (docs/internals/gangs.md has the table).
//
// A gang has a size and a name. The size comes from the label synergy.io/gang-size, or from Kueue's
// annotation for groups of pods; without a size there is no gang. The name comes from the first of
// synergy.io/gang and the labels of other tools; pods of one namespace with the same name are one
// gang.
//
// Threading: pure.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "profile/spread_cost.h"

namespace synergy {

// The start of the extender's message for a gang that has room but waits until its members can be
// closer together.
inline constexpr std::string_view kWaitsForLocality = "it waits for room within one ";
// Limits the size of a gang, because each member may wait in a thread of the extender until the
// last member has its place.
inline constexpr int32_t kMostGangMembers = 256;

struct Gang {
  std::string name;     // with the namespace: "team/bert"
  int32_t size = 0;     // all its members, including those without GPUs; 0 if there is a problem
  std::string problem;  // an error in the pod's labels, and how to correct it; may be empty
  SpreadCost spread = {};
  // The UID of the JobSet or of the pod's controller, such as a Job; empty: it has none. A later
  // run of the gang has another one.
  std::string run = {};

  bool operator==(const Gang&) const = default;
};

// Returns the text of a label or an annotation; empty if there is none.
using TextOfKey = std::function<std::string_view(std::string_view)>;

// Returns why a pod is in no gang although it trains together with other pods; empty if there is no
// such reason. For example, a controller creates some of the pods only once others have a node, so
// a gang would wait forever.
std::string WhyNoGang(const TextOfKey& label, const TextOfKey& annotation);

// Returns the gang of a pod with these labels and annotations; null for a pod that trains alone.
// `controller`: the UID of the pod's controller. Invalid values give a gang with a problem. Such a
// pod must not be placed, because its author wants it to run only together with others.
std::shared_ptr<const Gang> RecogniseGang(std::string_view pod_namespace, const TextOfKey& label,
                                          const TextOfKey& annotation,
                                          std::string_view controller = {});

}  // namespace synergy
