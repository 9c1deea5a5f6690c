#include "allocation/storage/storage_caps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "allocation/storage/storage_left.h"

namespace synergy {
namespace {

// The need of a pod that waits for at least this fraction of the time is unknown; it may be much
// larger.
constexpr double kAlwaysWaits = 0.95;
// A pod that reads at least this fraction of its cap is limited by the cap. A disk that delivers at
// least this fraction of its bandwidth is full. A pod that reads less than this fraction of its
// part gets clearly less than its part.
constexpr double kNearly = 0.9;
// Caps are in vain unless the suffering pods read more by this factor.
constexpr double kGain = 1.1;

}  // namespace

struct StorageCaps::Look {
  struct Reader {
    std::string uid;
    double read = 0;
    std::optional<double> waited;
    std::optional<double> cap;
    double part = 0;  // by max-min fairness

    bool Waits() const { return waited.value_or(0) >= kWaits; }
    bool Suffers() const { return !cap && Waits() && read < kNearly * part; }
    double Need() const {
      const double wait = waited.value_or(0);
      if (cap || wait >= kAlwaysWaits) return std::numeric_limits<double>::infinity();
      return read / (1 - wait);
    }
  };

  std::vector<Reader> readers;
  double all = 0;
  double bandwidth = 0;

  // Sets the parts. Counts the pods that Synergy does not manage as one pod, whose need is its read
  // rate.
  void Divide() {
    std::vector<double> needs;
    double others = all;
    for (const Reader& reader : readers) {
      needs.push_back(reader.Need());
      others -= reader.read;
    }
    needs.push_back(std::max(others, 0.0));
    const std::vector<double> parts = StorageParts(needs, bandwidth);
    for (size_t i = 0; i < readers.size(); ++i) readers[i].part = parts[i];
  }
};

void StorageCaps::Observe(const std::map<std::string, StorageUse>& uses,
                          const std::set<std::string>& pods, Instant now) {
  std::map<std::string, Look> looks;
  for (const auto& [uid, use] : uses) {
    if (use.backend == kNetworkStorage || !use.read || !use.all || !use.bandwidth) continue;
    Look& look = looks[use.backend];
    look.all = *use.all;
    look.bandwidth = *use.bandwidth;
    Look::Reader& reader =
        look.readers.emplace_back(Look::Reader{uid, *use.read, use.waited, std::nullopt});
    const auto capped = caps_.find(uid);
    if (capped != caps_.end() && capped->second.disk == use.backend)
      reader.cap = capped->second.rate;
    disks_[use.backend];
  }
  for (auto& [name, disk] : disks_) {
    Look& look = looks[name];
    NoteDelivered(name, disk, look, now);
    look.Divide();
    const size_t gone =
        std::erase_if(disk.readers, [&](const std::string& uid) { return !pods.contains(uid); });
    if (gone > 0) {
      disk.in_vain = false;
      Lift(name, disk);
      disk.delivered.clear();
      for (Look::Reader& reader : look.readers) reader.cap.reset();
    }
    ObserveDisk(name, disk, look, now);
  }
  std::erase_if(disks_, [](const auto& entry) { return entry.second.readers.empty(); });
  last_ = now;
}

void StorageCaps::ObserveDisk(const std::string& name, Disk& disk, const Look& look, Instant now) {
  for (const Look::Reader& reader : look.readers) {
    if (disk.readers.insert(reader.uid).second) disk.in_vain = false;
  }
  NoteSuffering(disk, look, now);
  Review(look, now);
  std::erase_if(caps_, [&](const auto& entry) {
    return entry.second.disk == name && now - entry.second.needed >= kNotNeededFor;
  });
  if (AreInVain(disk, look, now)) {
    disk.in_vain = true;
    Lift(name, disk);
  }
  SetCaps(name, disk, look, now);
}

void StorageCaps::NoteDelivered(const std::string& name, Disk& disk, Look& look,
                                Instant now) const {
  if (!HasCaps(name)) {
    disk.delivered.emplace_back(now, look.all);
    while (now - disk.delivered.front().first > kRemembered) disk.delivered.pop_front();
  }
  for (const auto& [at, rate] : disk.delivered) look.bandwidth = std::max(look.bandwidth, rate);
}

void StorageCaps::NoteSuffering(Disk& disk, const Look& look, Instant now) const {
  std::map<std::string, Suffering> suffering;
  for (const Look::Reader& reader : look.readers) {
    if (!reader.Suffers()) continue;
    const auto before = disk.suffering.find(reader.uid);
    Suffering one =
        before == disk.suffering.end() ? Suffering{.since = last_.value_or(now)} : before->second;
    one.read += reader.read;
    ++one.looks;
    suffering.emplace(reader.uid, one);
  }
  disk.suffering = std::move(suffering);
}

void StorageCaps::Review(const Look& look, Instant now) {
  const bool others = std::any_of(look.readers.begin(), look.readers.end(),
                                  [](const Look::Reader& reader) { return !reader.cap; });
  for (const Look::Reader& reader : look.readers) {
    const bool limits = reader.cap && *reader.cap < look.bandwidth;
    if (limits && others && reader.read >= kNearly * *reader.cap) caps_.at(reader.uid).needed = now;
  }
}

bool StorageCaps::AreInVain(Disk& disk, const Look& look, Instant now) {
  if (!disk.trial) return false;
  Trial& trial = *disk.trial;
  for (const Look::Reader& reader : look.readers) {
    if (trial.before.contains(reader.uid)) trial.with += reader.read;
  }
  trial.all += look.all;
  ++trial.looks;
  if (now - trial.since < kTrial) return false;
  double before = 0;
  for (const auto& [uid, rate] : trial.before) before += rate;
  const bool gained = trial.with >= kGain * before * trial.looks;
  const bool full = trial.all >= kNearly * look.bandwidth * trial.looks;
  disk.trial.reset();
  return !gained || !full;
}

void StorageCaps::SetCaps(const std::string& name, Disk& disk, const Look& look, Instant now) {
  const auto waiter = std::find_if(
      disk.suffering.begin(), disk.suffering.end(),
      [&](const auto& entry) { return now - entry.second.since >= kSuffersFor && !disk.in_vain; });
  const bool more = waiter != disk.suffering.end();
  const bool had_caps = HasCaps(name);
  if (!more && !had_caps) return;
  if (now - disk.changed < kShortestChange) return;
  const auto to_cap = [&](const Look::Reader& reader) {
    return more && reader.Waits() && reader.read > (1 + kHeadroom) * reader.part;
  };
  double capped_parts = 0;
  for (const Look::Reader& reader : look.readers) {
    if (reader.cap || to_cap(reader)) capped_parts += reader.part;
  }
  const double other_parts = look.bandwidth - capped_parts;
  const double headroom =
      capped_parts > 0 ? kHeadroom * std::clamp(other_parts / capped_parts, 0.0, 1.0) : 0;
  for (const Look::Reader& reader : look.readers) {
    const double rate = (1 + headroom) * reader.part;
    const auto capped = caps_.find(reader.uid);
    if (reader.cap) {
      if (capped == caps_.end()) continue;  // just dropped
      const bool alike = std::abs(rate - capped->second.rate) < kHysteresis * capped->second.rate;
      if (alike && capped->second.rate >= reader.part) continue;
      capped->second.rate = rate;
      disk.changed = now;
    } else if (to_cap(reader)) {
      caps_[reader.uid] = {name, rate, waiter->first, now};
      disk.changed = now;
    }
  }
  if (had_caps || !HasCaps(name)) return;
  disk.trial = Trial{.since = now, .before = {}};
  for (const auto& [uid, suffering] : disk.suffering)
    disk.trial->before[uid] = suffering.read / suffering.looks;
}

bool StorageCaps::HasCaps(const std::string& disk) const {
  return std::any_of(caps_.begin(), caps_.end(),
                     [&](const auto& entry) { return entry.second.disk == disk; });
}

void StorageCaps::Lift(const std::string& name, Disk& disk) {
  std::erase_if(caps_, [&](const auto& entry) { return entry.second.disk == name; });
  disk.trial.reset();
  disk.suffering.clear();
}

}  // namespace synergy
