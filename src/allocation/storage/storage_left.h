#pragma once

// Computes how pods divide the bandwidth of their node's storage by max-min fairness
// ("water-filling"). Each pod gets its need (profile/data_reads.h) up to an equal part, and the
// others share the rest. So a share's speed depends on the reads of the other shares.
//
// Needs and bandwidths are bytes per second. A bandwidth of 0 is unknown and limits nothing.
//
// Threading: pure.

#include <cstddef>
#include <span>
#include <vector>

#include "allocation/pod_share.h"
#include "core/resources.h"

namespace synergy {

// Returns the bandwidth that each of `needs` gets.
std::vector<double> StorageParts(std::span<const double> needs, double bandwidth);

// Returns the most bandwidth that user number `user` can get, given the needs of the others.
double StorageLeftTo(size_t user, std::vector<double> needs, double bandwidth);

// Returns whether any of the shares uses a known storage.
bool UseStorage(std::span<const PodShare> shares);

// Returns the need of a share with these amounts; 0 if it is unknown.
double StorageNeedOf(const PodShare& share, const ResourceVector& amounts);

// Returns the shares with `storage->left` set for the case that all have `amounts`.
std::vector<PodShare> WithStorageLeft(std::span<const PodShare> shares,
                                      std::span<const ResourceVector> amounts);
// Returns the shares as if each had the storage of its node alone.
std::vector<PodShare> AloneOnStorage(std::span<const PodShare> shares);

// Returns ThroughputsOf() with the storage divided as it is when all shares have `amounts`.
// REQUIRES: all shares of the storages are among `shares`.
std::vector<double> ThroughputsTogether(std::span<const PodShare> shares,
                                        std::span<const ResourceVector> amounts);

}  // namespace synergy
