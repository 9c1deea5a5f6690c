#include "core/version.h"

namespace synergy {

std::string_view Version() { return SYNERGY_VERSION; }
std::string_view Commit() { return SYNERGY_COMMIT; }

}  // namespace synergy
