#pragma once

// Reads samples in random order with replacement, so that a cache that holds a part of the data set
// serves the same part of the reads. Reads that miss the cache take as long as the storage needs.
//
// Threading: one reader; the counters from any thread. Failures: if a file cannot be made or read,
// the process ends.

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "cluster/support/trainer/options.h"

namespace synergy::trainer {

class DataSet {
 public:
  static std::unique_ptr<DataSet> Open(const Options& options);
  virtual ~DataSet() = default;

  // Reads one iteration's samples.
  virtual void ReadIteration(const std::stop_token& stop) = 0;

  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t missed_bytes() const { return missed_bytes_; }
  // Returns the total time of reads that missed the cache, without the delays of
  // --storage-bandwidth.
  Duration missed_time() const { return Duration(missed_time_); }

 protected:
  void Count(uint64_t bytes, bool missed) {
    read_bytes_ += bytes;
    if (missed) missed_bytes_ += bytes;
  }
  void CountMissed(Duration time) { missed_time_ += time.count(); }

 private:
  std::atomic<uint64_t> read_bytes_ = 0;
  std::atomic<uint64_t> missed_bytes_ = 0;
  std::atomic<Duration::rep> missed_time_ = 0;
};

// Returns `bytes` of anonymous memory whose pages exist; `bytes` may be 0.
std::unique_ptr<char[]> TouchedMemory(uint64_t bytes);

}  // namespace synergy::trainer
