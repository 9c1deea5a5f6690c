#pragma once

// The ConfigMaps in which Synergy keeps records. Private to this folder.
//
// This file is separate because several kinds of records use it.
//
// Threading: pure.

#include <string>
#include <string_view>

namespace synergy::wire {

// Returns a new ConfigMap for a POST. `data`: its data as a JSON object. `label`: one more label
// with the value "true"; empty: none.
std::string NewConfigMap(std::string_view name, std::string_view data, std::string_view label = {});

// Returns the merge patch that replaces the data of a ConfigMap. The patch causes a conflict if the
// ConfigMap has another resource version.
std::string DataPatch(std::string_view resource_version, std::string_view data);

// Returns data with one entry.
std::string DataWith(std::string_view key, std::string_view text);

}  // namespace synergy::wire
