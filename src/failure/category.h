#pragma once

// Defines the categories of failures: what caused a failure, whether it happens again, and how to
// react.
//
// Source: the table of failures of Philly (Jeon et al., ATC 2019), extended by those of Kubernetes,
// NCCL and NVIDIA's driver. docs/failures.md lists them.
//
// Threading: pure.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace synergy {

enum class Category {
  kHostOom,
  kShmTooSmall,
  kGpuOom,
  kImport,
  kSyntax,
  kProgramming,
  kConfiguration,
  kShape,
  kArguments,
  kCommand,
  kInputMissing,
  kInputCorrupt,
  kPermission,
  kDiskFull,
  kCheckpointContent,
  kStorage,
  kCudaVersion,
  kLibrary,
  kCudaLibrary,
  kDeviceAssert,
  kIllegalAccess,
  kCudaInit,
  kGpuMemoryFault,
  kGpuLost,
  kNvlink,
  kCollectiveTimeout,
  kPeerLost,
  kNetwork,
  kMpi,
  kPort,
  kSegfault,
  kAbort,
  kDiverged,
  kEvicted,
  kPreempted,
  kImage,
  kDeadline,
  kKilled,
  kUnknown,
};
inline constexpr size_t kCategories = static_cast<size_t>(Category::kUnknown) + 1;

enum class Cause { kUser, kEngine, kInfrastructure, kSynergy, kUnknown };

enum class Behaviour {
  kDeterministic,  // the same template and image fail again on the same kind of node
  kTransient,      // may pass without any change
  kUnknown,        // it is unknown whether it happens again
};

enum class Advice {
  kFix,             // change the template, the image or the data
  kRetry,           // retry without changes
  kRetryElsewhere,  // on another node or GPU
  kRetryLarger,     // with more memory
};

// How many repeated failures of a category may stop further retries, if the owner asked for that.
enum class StopsAfter {
  kNever,
  kTwo,           // two failures in a row
  kTwoUnstarted,  // two in a row, neither of which reached an iteration
  kTwoUnshared,   // two in a row, on GPUs that no other pod shared
  kThreeApart,    // three in a row, at least five minutes apart
};

struct Outcome {
  Cause cause = Cause::kUnknown;
  Behaviour behaviour = Behaviour::kUnknown;
  Advice advice = Advice::kRetry;
};

struct CategoryEntry {
  Category category;
  std::string_view name;
  Outcome outcome;  // the usual one; Classify adjusts it to the facts
  StopsAfter stops;
  bool prerun;  // a failed pre-run may prevent the job's start
  std::string_view meaning;
};

// Returns one entry for each category, in the order of Category.
const std::array<CategoryEntry, kCategories>& CategoryEntries();
const CategoryEntry& EntryOf(Category category);
std::string_view ToString(Category category);
std::string_view ToString(Cause cause);
std::string_view ToString(Behaviour behaviour);
std::string_view ToString(Advice advice);
std::optional<Category> CategoryNamed(std::string_view name);
std::optional<Cause> CauseNamed(std::string_view name);
std::optional<Behaviour> BehaviourNamed(std::string_view name);

}  // namespace synergy
