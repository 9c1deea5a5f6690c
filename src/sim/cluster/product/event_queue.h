#pragma once

// The events of a simulation that are still to come, in the order of their times.
//
// Threading: one owner.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "sim/cluster/job_progress.h"

namespace synergy {

enum class EventKind : uint8_t {
  kAttempt,
  kBound,
  kStarted,
  kResize,
  kFinish,
  kNodeLost,
  kPodsDeleted,  // the pods of a lost node
  kNodeBack,
  kVacanciesEnd,
  kCpuPodComes,
  kCpuPodEnds,
  kAttemptFails,  // these three concern a job, by its index
  kRetry,
  kPrerunEnds,
};

struct Event {
  Instant at;
  EventKind kind = EventKind::kAttempt;
  std::string uid = {};             // the pod's uid; for events of nodes, the node's name
  size_t job = 0;                   // for events of jobs
  JobProgress::Finish finish = {};  // kFinish
};

class EventQueue {
 public:
  void Add(Event event) { events_.push({++numbers_, std::move(event)}); }
  // Returns the time of the next event; Instant::max() if there is none.
  Instant next() const { return events_.empty() ? Instant::max() : events_.top().event.at; }
  // Removes and returns the next event that is due; nullopt if none is.
  std::optional<Event> TakeDue(Instant now) {
    if (next() > now || events_.empty()) return std::nullopt;
    Event event = events_.top().event;
    events_.pop();
    return event;
  }

 private:
  struct Numbered {
    uint64_t number = 0;  // events at one time run in the order in which they were added
    Event event;

    bool operator>(const Numbered& other) const {
      return event.at != other.event.at ? event.at > other.event.at : number > other.number;
    }
  };

  std::priority_queue<Numbered, std::vector<Numbered>, std::greater<>> events_;
  uint64_t numbers_ = 0;
};

}  // namespace synergy
