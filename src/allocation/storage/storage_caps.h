#pragma once

// Limits the rate at which pods of a node read from a disk, so that other pods get their parts of
// its bandwidth (docs/internals/storage.md).
//
// A pod *suffers* while it waits for a disk and gets clearly less than its part by max-min fairness
// (storage_left.h). Once a pod has suffered for a minute, other pods get caps. A pod gets a cap
// slightly above its own part if it reads clearly more, and also waits for the disk. So every pod
// can still read its part. Pods that are limited by their CPU or GPU get no cap, because they do
// not wait for the disk.
//
//           a pod has suffered for a minute
//   free -----------------------------------> capped, adjusted at most every 10 s
//     ^                                         |
//     +---- not needed for most of a minute ----+
//     +---- a pod of the disk is gone ----------+
//     +---- in vain ----------------------------+
//
// A cap is *needed* while it limits its pod and a pod without a cap also reads. The time that this
// other pod would wait without the cap is unknown. Caps are *in vain* if a minute later the pods
// that suffered read no more than before, or the disk delivers less. Then the disk has no caps
// until another pod begins to read from it, or a pod that reads from it is gone.
//
// A disk's known bandwidth is too low if it was measured while few requests were in flight. So the
// bandwidth used here is at least the highest rate that the disk delivered without caps in the last
// ten minutes. With caps, a disk's rate does not show its bandwidth, so the older observations
// continue to count.
//
// A pod's need is its read rate, divided by the fraction of time in which it does not wait. A
// capped pod also waits for its cap, so its need is unknown and counts as unlimited.
//
// Threading: one owner. Pure.

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/clock.h"
#include "profile/pod_progress.h"

namespace synergy {

struct StorageCap {
  std::string disk;
  double rate = 0;     // bytes per second
  std::string waiter;  // uid of a pod that suffered when the cap was set
  Instant needed{};    // end of the last interval in which the cap was needed

  bool operator==(const StorageCap&) const = default;
};

class StorageCaps {
 public:
  // A pod counts as waiting if it waits for at least this fraction of an interval between calls of
  // Observe (a look).
  static constexpr double kWaits = 0.2;
  static constexpr Duration kSuffersFor = std::chrono::minutes(1);
  // With a look every ten seconds, unneeded caps are gone within a minute.
  static constexpr Duration kNotNeededFor = std::chrono::seconds(45);
  static constexpr Duration kTrial = std::chrono::minutes(1);
  // Looks are ten seconds apart, give or take a few milliseconds.
  static constexpr Duration kShortestChange = std::chrono::milliseconds(9500);
  // How long a look without caps counts as evidence of the disk's bandwidth. After a burst from its
  // own cache, a disk gets no caps for that long.
  static constexpr Duration kRemembered = std::chrono::minutes(10);
  // Caps exceed the parts of their pods, to use a disk that delivers more than its known bandwidth.
  // Each cap exceeds its part by at most this fraction. All caps together exceed their parts by at
  // most this fraction of the other pods' parts. Those other pods may lose that much.
  static constexpr double kHeadroom = 0.07;
  // A cap does not change if it is at least the pod's part, and the new cap differs by less than
  // this fraction.
  static constexpr double kHysteresis = 0.03;

  // Updates the caps. `uses`: the reads of the node's pods since the last call, by uid. `pods`: the
  // uids of all pods that still exist.
  void Observe(const std::map<std::string, StorageUse>& uses, const std::set<std::string>& pods,
               Instant now);

  // Returns the caps to have in force now, by uid.
  const std::map<std::string, StorageCap>& caps() const { return caps_; }

 private:
  struct Suffering {
    Instant since{};
    double read = 0;  // sum of bytes per second over the looks since then
    int looks = 0;
  };
  // Compares the read rates of suffering pods with and without caps.
  struct Trial {
    Instant since{};
    std::map<std::string, double> before;  // mean rates, by uid
    // Sums of bytes per second over the looks since then: of those pods, and of the whole disk.
    double with = 0;
    double all = 0;
    int looks = 0;
  };
  struct Disk {
    std::set<std::string> readers;  // existing pods that have read from it
    std::map<std::string, Suffering> suffering;
    bool in_vain = false;  // until `readers` changes
    std::optional<Trial> trial;
    Instant changed{};  // when caps last changed
    // Bytes per second in the looks of the last kRemembered without caps.
    std::deque<std::pair<Instant, double>> delivered;
  };
  // The pods that read from a disk in one look.
  struct Look;

  void ObserveDisk(const std::string& name, Disk& disk, const Look& look, Instant now);
  // Raises the look's bandwidth to the rates that the disk has delivered.
  void NoteDelivered(const std::string& name, Disk& disk, Look& look, Instant now) const;
  void NoteSuffering(Disk& disk, const Look& look, Instant now) const;
  // Records which caps are needed.
  void Review(const Look& look, Instant now);
  // Returns whether the trial has shown that caps are in vain.
  static bool AreInVain(Disk& disk, const Look& look, Instant now);
  void SetCaps(const std::string& name, Disk& disk, const Look& look, Instant now);
  bool HasCaps(const std::string& disk) const;
  void Lift(const std::string& name, Disk& disk);

  std::map<std::string, StorageCap> caps_;
  std::map<std::string, Disk> disks_;
  std::optional<Instant> last_;  // the end of the last look
};

}  // namespace synergy
