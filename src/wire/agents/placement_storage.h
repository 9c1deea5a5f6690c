#pragma once

// The knowledge about storage for placement, in a ConfigMap in Synergy's own namespace.
//
// Threading: pure. ObjectReader reads lists and watches of PublishedStorage.

#include <string>
#include <string_view>

#include "core/result.h"
#include "engine/storage/published_storage.h"

namespace synergy::wire {

inline constexpr std::string_view kStorageName = "synergy-storage";

// Returns the whole ConfigMap, for a POST.
std::string WriteNewStorage(const PublishedStorage& published);
// Returns the merge patch that replaces the data. It causes a conflict if the ConfigMap has changed
// since it was read.
std::string WriteStoragePatch(const PublishedStorage& published);
// Data that cannot be read count as none. Returns kInvalid if the text is not a JSON object.
Result<PublishedStorage> ReadStorage(std::string_view text);

}  // namespace synergy::wire
