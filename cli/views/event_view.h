#pragma once

// Events as `synergy explain` shows them.
//
// Threading: pure.

#include <string>
#include <vector>

#include "cli/text/tree.h"
#include "core/clock.h"
#include "wire/objects/event_about_pod.h"

namespace synergy::cli {

Tree ToTree(const std::vector<wire::EventAboutPod>& events);
// A heading and a line for each; nothing where there are none.
std::string EventsText(const std::vector<wire::EventAboutPod>& events, WallTime now);

}  // namespace synergy::cli
