#include "engine/gangs/preemption_actions.h"

namespace synergy {

std::string_view ToString(PreemptionEnd end) {
  switch (end) {
    case PreemptionEnd::kBound:
      return "bound";
    case PreemptionEnd::kInVain:
      return "in_vain";
    case PreemptionEnd::kRefused:
      return "refused";
    case PreemptionEnd::kGangGone:
      return "gang_gone";
    case PreemptionEnd::kYielded:
      return "yielded";
  }
  return "";
}

}  // namespace synergy
