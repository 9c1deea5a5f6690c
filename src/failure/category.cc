#include "failure/category.h"

namespace synergy {
namespace {

constexpr Outcome kFixIt = {Cause::kUser, Behaviour::kDeterministic, Advice::kFix};
constexpr Outcome kTryAgain = {Cause::kInfrastructure, Behaviour::kTransient, Advice::kRetry};
constexpr Outcome kGoElsewhere = {Cause::kInfrastructure, Behaviour::kTransient,
                                  Advice::kRetryElsewhere};
constexpr Outcome kOfTheEngine = {Cause::kEngine, Behaviour::kUnknown, Advice::kRetry};

constexpr auto kNever = StopsAfter::kNever;
constexpr auto kTwo = StopsAfter::kTwo;
constexpr auto kTwoUnstarted = StopsAfter::kTwoUnstarted;
constexpr auto kTwoUnshared = StopsAfter::kTwoUnshared;
constexpr auto kThreeApart = StopsAfter::kThreeApart;

constexpr std::array<CategoryEntry, kCategories> kEntries = {{
    {Category::kHostOom,
     "host-oom",
     {Cause::kUser, Behaviour::kDeterministic, Advice::kRetryLarger},
     kNever,
     false,
     "the pod needed more memory than its limit, or than the node had"},
    {Category::kShmTooSmall, "shm-too-small", kFixIt, kTwo, false, "/dev/shm is too small"},
    {Category::kGpuOom, "gpu-oom", kFixIt, kTwoUnshared, false, "GPU memory is exhausted"},
    {Category::kImport, "import", kFixIt, kTwo, true, "a Python module or a name in it is missing"},
    {Category::kSyntax, "syntax", kFixIt, kTwo, true, "the source code cannot be parsed"},
    {Category::kProgramming, "programming", kFixIt, kTwoUnstarted, false,
     "a mistake in the program: names, types, use of a library"},
    {Category::kConfiguration, "configuration", kFixIt, kTwoUnstarted, false,
     "the program rejects a value"},
    {Category::kShape, "shape", kFixIt, kTwo, false, "tensor shapes do not match"},
    {Category::kArguments, "arguments", kFixIt, kTwo, true, "the command-line arguments are wrong"},
    {Category::kCommand, "command", kFixIt, kTwo, true, "the command does not exist or cannot run"},
    {Category::kInputMissing, "input-missing", kFixIt, kThreeApart, true,
     "a file, data set or model is missing"},
    {Category::kInputCorrupt, "input-corrupt", kFixIt, kTwo, false, "a file cannot be decoded"},
    {Category::kPermission, "permission", kFixIt, kThreeApart, true,
     "access to a file or service was refused"},
    {Category::kDiskFull, "disk-full", kFixIt, kThreeApart, false,
     "a disk, volume or quota is full"},
    {Category::kCheckpointContent, "checkpoint-content", kFixIt, kTwo, false,
     "the checkpoint does not match the model"},
    {Category::kStorage, "storage", kTryAgain, kNever, false, "a storage service or device failed"},
    {Category::kCudaVersion,
     "cuda-version",
     {Cause::kEngine, Behaviour::kDeterministic, Advice::kRetryElsewhere},
     kNever,
     false,
     "driver, CUDA and GPU are incompatible"},
    {Category::kLibrary, "library", kFixIt, kTwo, true, "library versions are incompatible"},
    {Category::kCudaLibrary, "cuda-library", kOfTheEngine, kNever, false,
     "cuBLAS, cuDNN or the like failed"},
    {Category::kDeviceAssert, "device-assert", kFixIt, kTwoUnshared, false,
     "an assertion in a GPU kernel failed, often an index out of range"},
    {Category::kIllegalAccess, "illegal-access", kOfTheEngine, kNever, false,
     "a GPU kernel accessed memory that is not its own"},
    {Category::kCudaInit, "cuda-init", kGoElsewhere, kNever, false,
     "no GPU is accessible from the container"},
    {Category::kGpuMemoryFault, "gpu-memory-fault", kGoElsewhere, kNever, false,
     "a GPU's memory is faulty"},
    {Category::kGpuLost, "gpu-lost", kGoElsewhere, kNever, false, "a GPU stopped working"},
    {Category::kNvlink, "nvlink", kGoElsewhere, kNever, false, "an NVLink failed"},
    {Category::kCollectiveTimeout, "collective-timeout", kTryAgain, kNever, false,
     "a collective operation timed out"},
    {Category::kPeerLost, "peer-lost", kTryAgain, kNever, false,
     "another process of the job was lost"},
    {Category::kNetwork, "network", kTryAgain, kNever, false,
     "a connection, a name lookup or a rendezvous failed"},
    {Category::kMpi, "mpi", kTryAgain, kNever, false, "MPI's runtime failed"},
    {Category::kPort, "port", kTryAgain, kNever, false, "a port is in use"},
    {Category::kSegfault, "segfault", kOfTheEngine, kNever, false, "a segmentation fault"},
    {Category::kAbort, "abort", kOfTheEngine, kNever, false,
     "the process aborted itself, or hit an illegal instruction or arithmetic error"},
    {Category::kDiverged, "diverged", kFixIt, kNever, false,
     "the training ended because its loss is not finite"},
    {Category::kEvicted, "evicted", kTryAgain, kNever, false, "the node evicted or lost the pod"},
    {Category::kPreempted, "preempted", kTryAgain, kNever, false, "other work took its place"},
    {Category::kImage, "image", kFixIt, kNever, true, "the image could not be pulled"},
    {Category::kDeadline, "deadline", kFixIt, kNever, false, "the job ran out of time"},
    {Category::kKilled,
     "killed",
     {},
     kNever,
     false,
     "a signal ended the process for an unknown reason"},
    {Category::kUnknown, "unknown", {}, kNever, false, "no rule applies"},
}};

// Returns the value, from `first` to `last`, with this name.
template <class Enum>
std::optional<Enum> Named(std::string_view name, Enum first, Enum last) {
  for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i) {
    if (ToString(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

const std::array<CategoryEntry, kCategories>& CategoryEntries() { return kEntries; }

const CategoryEntry& EntryOf(Category category) {
  return kEntries.at(static_cast<size_t>(category));
}

std::string_view ToString(Category category) { return EntryOf(category).name; }

std::string_view ToString(Cause cause) {
  switch (cause) {
    case Cause::kUser:
      return "user";
    case Cause::kEngine:
      return "engine";
    case Cause::kInfrastructure:
      return "infrastructure";
    case Cause::kSynergy:
      return "synergy";
    case Cause::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view ToString(Behaviour behaviour) {
  switch (behaviour) {
    case Behaviour::kDeterministic:
      return "deterministic";
    case Behaviour::kTransient:
      return "transient";
    case Behaviour::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view ToString(Advice advice) {
  switch (advice) {
    case Advice::kFix:
      return "fix";
    case Advice::kRetryElsewhere:
      return "retry-elsewhere";
    case Advice::kRetryLarger:
      return "retry-larger";
    case Advice::kRetry:
      break;
  }
  return "retry";
}

std::optional<Category> CategoryNamed(std::string_view name) {
  return Named(name, Category::kHostOom, Category::kUnknown);
}

std::optional<Cause> CauseNamed(std::string_view name) {
  return Named(name, Cause::kUser, Cause::kUnknown);
}

std::optional<Behaviour> BehaviourNamed(std::string_view name) {
  return Named(name, Behaviour::kDeterministic, Behaviour::kUnknown);
}

}  // namespace synergy
