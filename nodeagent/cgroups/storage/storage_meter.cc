#include "nodeagent/cgroups/storage/storage_meter.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/rounding.h"

namespace synergy::nodeagent {
namespace {

// If the bytes that a container fetched are unknown, and it waits for storage but reads and writes
// less than this per second on the node's disks, it waits for network storage.
constexpr double kElsewhere = 16 << 10;

// A container's reads and waits in one look.
struct Look {
  std::string disk;  // the disk with most of its reads; empty: it read from none
  double from_disk = 0;
  double read = 0;     // from all disks
  double written = 0;  // to all disks
  std::optional<double> fetched;
  std::optional<double> waited;  // 0 to 1
};

// Returns the growth of a counter; nullopt if the counter was reset.
std::optional<double> Growth(double from, double to) {
  return to >= from ? std::optional(to - from) : std::nullopt;
}

// Returns the growth of reads from and writes to a disk; nullopt if the counters were reset.
std::optional<IoCount> Growth(const std::map<std::string, IoCount>& from,
                              const std::pair<const std::string, IoCount>& to) {
  const auto found = from.find(to.first);
  const IoCount before = found == from.end() ? IoCount{} : found->second;
  const auto read = Growth(before.read, to.second.read);
  const auto written = Growth(before.written, to.second.written);
  if (!read || !written) return std::nullopt;
  return IoCount{*read, *written};
}

std::optional<Look> Compare(const ContainerIo& from, const ContainerIo& to, double seconds) {
  Look look;
  for (const auto& disk : to.disks) {
    const auto growth = Growth(from.disks, disk);
    if (!growth) return std::nullopt;
    look.read += growth->read;
    look.written += growth->written;
    if (growth->read <= look.from_disk) continue;
    look.disk = disk.first;
    look.from_disk = growth->read;
  }
  if (from.fetched && to.fetched) look.fetched = Growth(*from.fetched, *to.fetched);
  if (from.waited && to.waited) {
    const double waited = Seconds(*to.waited - *from.waited).count();
    look.waited = std::clamp(waited / seconds, 0.0, 1.0);
  }
  return look;
}

std::optional<StorageUse> ToUse(const Look& look, double seconds) {
  StorageUse use{.waited = look.waited};
  const double least = StorageMeter::kHardlyReads * seconds;
  const double elsewhere = look.fetched ? *look.fetched - look.read : 0;
  if (elsewhere >= least && elsewhere > look.from_disk) {
    use.backend = kNetworkStorage;
    use.read = elsewhere / seconds;
  } else if (look.from_disk >= least) {
    use.backend = look.disk;
    use.read = look.from_disk / seconds;
  } else if (!look.fetched && look.waited.value_or(0) >= StorageMeter::kWaits &&
             look.read + look.written < kElsewhere * seconds) {
    use.backend = kNetworkStorage;
  } else {
    return std::nullopt;
  }
  return use;
}

}  // namespace

void StorageMeter::Observe(StorageReading reading) {
  if (last_ && reading.at - last_->at < kShortest) return;
  uses_.clear();
  if (last_ && reading.at - last_->at <= kLongest) NoteLook(*last_, reading);
  Forget(reading);
  last_ = std::move(reading);
}

void StorageMeter::NoteLook(const StorageReading& from, const StorageReading& to) {
  const double seconds = Seconds(to.at - from.at).count();
  std::map<std::string, double> waited;  // by disk, the longest wait of its readers
  std::set<std::string> is_short;        // disks that a reader waits for
  std::set<std::string> limited;         // disks with a capped reader
  for (const auto& [id, io] : to.containers) {
    const auto before = from.containers.find(id);
    if (before == from.containers.end()) continue;
    const auto look = Compare(before->second, io, seconds);
    auto use = look ? ToUse(*look, seconds) : std::nullopt;
    if (!use) continue;
    use->at = to.wall;
    if (to.capped.contains(id.first)) {
      limited.insert(use->backend);
    } else if (use->backend != kNetworkStorage && use->waited) {
      double& longest = waited[use->backend];
      longest = std::max(longest, *use->waited);
      // A container that writes much may wait for its writes.
      if (*use->waited >= kWaits && look->written <= look->read) is_short.insert(use->backend);
    }
    uses_.insert_or_assign(id.first, *std::move(use));
  }
  std::map<std::string, double> all;
  for (const auto& disk : to.all_pods) {
    const auto growth = Growth(from.all_pods, disk);
    if (!growth) continue;
    const double rate = growth->read / seconds;
    all[disk.first] = rate;
    if (!limited.contains(disk.first))
      NoteDelivered(disk.first, {to.at, rate}, is_short.contains(disk.first));
  }
  for (const auto& [disk, part] : waited) waited_[disk] += ToDuration(Seconds(part * seconds));
  for (auto& [uid, use] : uses_) {
    if (const auto found = all.find(use.backend); found != all.end()) use.all = found->second;
    use.bandwidth = BandwidthOf(use.backend);
  }
}

void StorageMeter::NoteDelivered(const std::string& disk, Sample sample, bool is_short) {
  if (!is_short) {
    const auto known = BandwidthOf(disk);
    if (!known || sample.bandwidth <= *known) return;
  }
  std::deque<Sample>& samples = samples_[disk];
  samples.push_back(sample);
  if (samples.size() > kMostSamples) samples.pop_front();
}

void StorageMeter::Forget(const StorageReading& reading) {
  // A new disk may get the name of one that is gone.
  const auto has_gone = [&](const auto& entry) { return !reading.all_pods.contains(entry.first); };
  std::erase_if(samples_, has_gone);
  std::erase_if(waited_, has_gone);
  for (auto& [disk, samples] : samples_) {
    while (!samples.empty() && reading.at - samples.front().at > kForgotten) samples.pop_front();
  }
}

std::optional<double> StorageMeter::BandwidthOf(const std::string& disk) const {
  const auto found = samples_.find(disk);
  if (found == samples_.end() || found->second.size() < kFewestSamples) return std::nullopt;
  std::vector<double> sorted;
  for (const Sample& sample : found->second) sorted.push_back(sample.bandwidth);
  const auto rank = static_cast<size_t>(std::ceil(kQuantile * static_cast<double>(sorted.size())));
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

}  // namespace synergy::nodeagent
