#pragma once

// A program's recording: everything that happens to its ClusterState and every decision that it
// makes, a line of JSON each (wire/journal/journal.h, wire/journal/decisions.h), in one file.
// replay.h goes through it again. Each run of the program begins with a line that names it.
//
// Threading: from any thread; lines never mix, and those of one thread, and of one ClusterState,
// stand in the order in which they were told.
// Failures: when the file has its full size, or cannot be written, that is logged once and the
// recording ends; the program goes on.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "cluster/state/cluster_journal.h"
#include "core/log.h"
#include "core/result.h"
#include "core/units.h"
#include "engine/decisions.h"

namespace synergy::record {

class Recorder final : public ClusterJournal, public DecisionJournal {
 public:
  // Adds to `file`, which nobody else may read, until it has `limit` bytes. `log` outlives this.
  static Result<std::unique_ptr<Recorder>> Open(const std::string& file, Bytes limit,
                                                std::string_view program, Logger& log);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void Wrote(const ClusterChange& change) override;
  void Wrote(const Decision& decision) override;

 private:
  Recorder(int file, uint64_t size, uint64_t limit, Logger& log)
      : log_(log), limit_(limit), file_(file), size_(size) {}

  void Append(std::string line);
  void End(std::string_view why);

  Logger& log_;
  const uint64_t limit_;
  std::mutex mutex_;
  int file_;  // -1: the recording has ended
  uint64_t size_;
};

}  // namespace synergy::record
