#pragma once

// The events of the reference simulator, earliest first. Events of the same kind and time come in
// the order of a binary heap of Python's heapq. That order determines which jobs have finished if a
// run ends between events of the same time. So this is a heap of our own, which does the same steps
// as heapq's.
//
// Threading: one owner at a time.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace synergy::reference {

// The kinds are in the order in which events of the same time are handled.
enum class EventKind : uint32_t { kArrival, kLeaseEnd, kSchedule };

struct Event {
  double time = 0;  // seconds
  EventKind kind = EventKind::kSchedule;
  uint32_t job = 0;  // position in the run's jobs; not used for kSchedule
};

class EventQueue {
 public:
  void Push(Event event);
  // REQUIRES: the queue is not empty.
  Event Pop();
  bool empty() const { return heap_.empty(); }

 private:
  // Inserts the event at its place between `position` and the top.
  void MoveUp(size_t position, Event event);

  std::vector<Event> heap_;
};

}  // namespace synergy::reference
