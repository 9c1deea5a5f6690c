#pragma once

// Records every change of a program's ClusterState, every decision, and every step of its queue
// planner in one file. Each is a line of JSON (wire/journal). replay.h replays it. Each run of the
// program begins with a line that names the program.
//
// Threading: any thread. Lines never mix, and lines of one thread, or of one ClusterState, stay in
// the order in which they were recorded. Failures: if the file reaches its limit or cannot be
// written, recording ends with one log message; the program continues.

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
#include "queues/planner/queue_journal.h"

namespace synergy::record {

class Recorder final : public ClusterJournal, public DecisionJournal, public QueueJournal {
 public:
  // Appends to `file`, which no other user may read, until it has `limit` bytes. `log` must outlive
  // the result.
  static Result<std::unique_ptr<Recorder>> Open(const std::string& file, Bytes limit,
                                                std::string_view program, Logger& log);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void Wrote(const ClusterChange& change) override;
  void Wrote(const Decision& decision) override;
  void Wrote(const QueueStep& step) override;

 private:
  Recorder(int file, uint64_t size, uint64_t limit, Logger& log)
      : log_(log), limit_(limit), file_(file), size_(size) {}

  void Append(std::string line);
  void End(std::string_view why);

  Logger& log_;
  const uint64_t limit_;
  std::mutex mutex_;
  int file_;  // -1: recording has ended
  uint64_t size_;
};

}  // namespace synergy::record
