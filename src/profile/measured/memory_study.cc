#include "profile/measured/memory_study.h"

#include <algorithm>
#include <cmath>

#include "core/rounding.h"

namespace synergy {
namespace {

// Before this time, a pod may be starting up, and its cache is cold.
constexpr Duration kWatched = std::chrono::minutes(5);
// After this time the peak of its processes has been seen, even if no log line reported its cause.
constexpr Duration kConfirmed = std::chrono::hours(1);
// Time from the log line about a checkpoint until it is written; memory is read in that time.
constexpr Duration kCheckpointTakes = std::chrono::seconds(30);
constexpr Duration kStudyWindow = std::chrono::seconds(30);
// Storage holds a pod up if the pod waits for it for more than this fraction of a window.
constexpr double kWaitsForStorage = 0.7;
// A pod that reads fewer bytes per second than this reads only logs, code and checkpoints, and
// needs no cache.
constexpr double kHardlyReads = 1 << 20;
// Largest difference between the misses and those of the model, as a fraction of what is read.
constexpr double kFitsModel = 0.1;
// A log may print any epoch, so amounts derived from it are limited to the most that a profile may
// have.
constexpr Bytes kMostLearnt = JobProfile::kMostMemory;

double SecondsBetween(WallTime from, WallTime to) { return Seconds(to - from).count(); }

Bytes ToBytes(double bytes) { return Bytes(std::min(ToNearest(bytes), kMostLearnt.count())); }

bool CountsAnew(const MemoryStudy::Mark& last, const PodProgress& progress) {
  const MemoryUse& use = *progress.memory;
  return use.at < last.use.at || use.read < last.use.read || use.fetched < last.use.fetched ||
         progress.iterations < last.iterations;
}

void NoteEpoch(MemoryStudy& study, const PodProgress& progress) {
  if (!progress.epoch) return;
  const bool rises = study.epoch && *progress.epoch > *study.epoch;
  if (study.epoch && *progress.epoch < *study.epoch) study.epochs_from = study.epochs_to = {};
  study.epoch = progress.epoch;
  if (!rises) return;
  const MemoryStudy::EpochMark mark{*progress.epoch, progress.memory->read};
  if (!study.epochs_from) study.epochs_from = mark;
  study.epochs_to = mark;
}

void EndWindow(MemoryStudy& study) {
  const MemoryUse& from = study.window->use;
  const MemoryUse& to = study.last->use;
  const double seconds = SecondsBetween(from.at, to.at);
  const double read = to.read - from.read;
  const double fetched = to.fetched - from.fetched;
  study.missed = read > 0 ? std::optional(std::min(fetched / read, 1.0)) : std::nullopt;
  study.bandwidth = std::max(study.bandwidth, fetched / seconds);
  study.waits = from.starved && to.starved &&
                Seconds(*to.starved - *from.starved).count() >= kWaitsForStorage * seconds;
  study.window = study.last;
}

bool Apart(Bytes a, Bytes b, double agreement) {
  const auto larger = static_cast<double>(std::max(a, b).count());
  return std::abs(static_cast<double>((a - b).count())) > agreement * larger;
}

}  // namespace

void Note(MemoryStudy& study, const PodProgress& progress) {
  if (!progress.memory) return;
  if (study.last && CountsAnew(*study.last, progress)) study = {};
  if (study.last && progress.memory->at == study.last->use.at) return;
  // A restarted agent has not seen the peak.
  const Bytes peak = study.last ? study.last->use.process : Bytes(0);
  study.last = MemoryStudy::Mark{*progress.memory, progress.iterations};
  study.last->use.process = std::max(peak, study.last->use.process);
  study.shared |= progress.memory->shared;
  if (!study.first) study.first = study.last;
  if (!study.window) study.window = study.last;
  // A checkpoint from before the first reading does not explain the memory that was seen.
  if (!study.checkpoint && progress.checkpoint && *progress.checkpoint >= study.first->use.at)
    study.checkpoint = progress.checkpoint;
  NoteEpoch(study, progress);
  if (progress.memory->at - study.window->use.at >= kStudyWindow) EndWindow(study);
}

std::optional<MeasuredMemory> MemoryOf(const MemoryStudy& study) {
  if (!study.first || study.shared) return std::nullopt;
  const Duration watched = study.last->use.at - study.first->use.at;
  if (watched < kWatched) return std::nullopt;
  const MemoryUse& from = study.first->use;
  const MemoryUse& to = study.last->use;
  const double iterations = study.last->iterations - study.first->iterations;
  if (iterations <= 0 || to.process <= Bytes(0)) return std::nullopt;
  MeasuredMemory memory;
  memory.process = to.process;
  memory.confirmed =
      watched >= kConfirmed ||
      (study.checkpoint && study.last->use.at - *study.checkpoint >= kCheckpointTakes);
  const double read = to.read - from.read;
  // If the pod needs no cache, report nothing until its memory is confirmed and may be reduced.
  if (read / SecondsBetween(from.at, to.at) < kHardlyReads)
    return memory.confirmed ? std::optional(memory) : std::nullopt;
  if (!study.missed || !study.epochs_from || study.epochs_to->epoch <= study.epochs_from->epoch)
    return std::nullopt;
  const double data_set = (study.epochs_to->read - study.epochs_from->read) /
                          (study.epochs_to->epoch - study.epochs_from->epoch);
  if (data_set < 1) return std::nullopt;
  const double modelled = std::max(0.0, 1 - static_cast<double>(to.cache.count()) / data_set);
  if (std::abs(*study.missed - modelled) > kFitsModel) return std::nullopt;
  memory.data_set = ToBytes(data_set);
  memory.bytes_per_iteration = std::max(ToBytes(read / iterations), Bytes(1));
  if (study.bandwidth >= kHardlyReads) memory.storage_bandwidth = ToBytes(study.bandwidth);
  return memory;
}

MeasuredMemory Combined(const MeasuredMemory& known, const MeasuredMemory& seen) {
  MeasuredMemory joined = known.data_set > Bytes(0) ? known : seen;
  joined.process = std::max(known.process, seen.process);
  joined.data_set = std::max(known.data_set, seen.data_set);
  joined.storage_bandwidth = std::max(known.storage_bandwidth, seen.storage_bandwidth);
  joined.confirmed = known.confirmed || seen.confirmed;
  joined.raise_over = std::max(known.raise_over, seen.raise_over);
  return joined;
}

bool Differ(const MeasuredMemory& a, const MeasuredMemory& b, double agreement) {
  return a.confirmed != b.confirmed || a.raise_over != b.raise_over ||
         a.storage_bandwidth.has_value() != b.storage_bandwidth.has_value() ||
         Apart(a.process, b.process, agreement) || Apart(a.data_set, b.data_set, agreement) ||
         Apart(a.bytes_per_iteration, b.bytes_per_iteration, agreement) ||
         Apart(a.storage_bandwidth.value_or(Bytes(0)), b.storage_bandwidth.value_or(Bytes(0)),
               agreement);
}

}  // namespace synergy
