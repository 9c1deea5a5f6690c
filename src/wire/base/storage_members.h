#pragma once

// The members of PlacementStorage and of what it contains, and their names in text. Private to
// src/wire.
//
// This file is separate because both ConfigMaps and recordings have these members.
//
// Threading: pure.

#include "engine/storage/published_storage.h"
#include "wire/base/member_text.h"

namespace synergy::wire {

void Members(auto& each, Like<ProfileReads> auto& reads) {
  auto& [gpus, process, data_set, most] = reads;
  each("gpus", gpus);
  each("process", process);
  each("dataSet", data_set);
  each("most", most);
}
void Members(auto& each, Like<PlacementStorage> auto& storage) {
  auto& [bandwidths, reads] = storage;
  each("bandwidths", bandwidths);
  each("reads", reads);
}

}  // namespace synergy::wire
