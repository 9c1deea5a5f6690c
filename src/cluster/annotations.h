#pragma once

// The labels and annotations by which Synergy's programs, users and other tools understand each
// other. docs/companion.md says what each of them means.
//
// Threading: constants.

#include <string_view>

namespace synergy::annotations {

// Labels that people set.
inline constexpr std::string_view kProfile = "synergy.io/profile";                 // on pods
inline constexpr std::string_view kDefaultProfile = "synergy.io/default-profile";  // namespaces
inline constexpr std::string_view kEnforcement = "synergy.io/enforcement";  // pods, namespaces
inline constexpr std::string_view kGpuProduct = "synergy.io/gpu-product";   // pods
inline constexpr std::string_view kFungible = "synergy.io/fungible";        // "false": hands off

// Annotations that the webhook writes. Amounts are {"cpu":"1500m","memory":"4Gi"}, those of the
// container that has the GPUs.
inline constexpr std::string_view kContainer = "synergy.io/container";
inline constexpr std::string_view kDemand = "synergy.io/demand";
inline constexpr std::string_view kFairShare = "synergy.io/fair-share";
inline constexpr std::string_view kFloor = "synergy.io/floor";
inline constexpr std::string_view kOriginal = "synergy.io/original";  // the container's resources
inline constexpr std::string_view kProfileGeneration = "synergy.io/profile-generation";
// The profile, the enforcement and the GPU product that were used are annotations of the labels'
// names.

// Annotations that the extender and the tuner write.
inline constexpr std::string_view kChange = "synergy.io/change";  // ChangeRecord
inline constexpr std::string_view kHold = "synergy.io/hold";      // a node kept for a waiting pod
// On a waiting pod: when there was room for it and kube-scheduler was reminded of that.
inline constexpr std::string_view kRoomSeen = "synergy.io/room-seen";
inline constexpr std::string_view kUnshrinkableUntil = "synergy.io/unshrinkable-until";

// The field manager as which the extender and the tuner resize pods: the API server notes in a
// pod's metadata.managedFields who has set which amounts.
inline constexpr std::string_view kFieldManager = "synergy";

}  // namespace synergy::annotations
