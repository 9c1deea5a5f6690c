#pragma once

// How pods divide the bandwidth of their node's storage: each gets what it needs
// (profile/data_reads.h) up to an equal part, and what one leaves goes to the others (max-min
// fairness, "water-filling"). So a share's speed depends on what its neighbours read.
//
// Needs and bandwidths are bytes per second. A bandwidth of 0 is unknown, and limits nothing.
//
// Threading: pure.

#include <cstddef>
#include <span>
#include <vector>

#include "allocation/pod_share.h"
#include "core/resources.h"

namespace synergy {

// Returns what each of these needs gets.
std::vector<double> StorageParts(std::span<const double> needs, double bandwidth);

// Returns the most that the user at this position can get beside the needs of the others.
double StorageLeftTo(size_t user, std::vector<double> needs, double bandwidth);

// Whether any of the shares uses a storage that is known.
bool UseStorage(std::span<const PodShare> shares);

// Returns the need of a share with these amounts; 0 if it is unknown.
double StorageNeedOf(const PodShare& share, const ResourceVector& amounts);

// Returns the shares with what is left to each of them, on each storage, if all have `amounts`.
std::vector<PodShare> WithStorageLeft(std::span<const PodShare> shares,
                                      std::span<const ResourceVector> amounts);
// Returns the shares as if each had the storage of its node alone.
std::vector<PodShare> AloneOnStorage(std::span<const PodShare> shares);

// ThroughputsOf() with the storage divided as it is if all shares have `amounts`. REQUIRES: all
// shares of the storages are among `shares`.
std::vector<double> ThroughputsTogether(std::span<const PodShare> shares,
                                        std::span<const ResourceVector> amounts);

}  // namespace synergy
