#pragma once

// The events of the reference simulator, earliest first. Events of one kind at one instant come in
// the order that a binary heap of Python's heapq leaves them in, which decides who has finished
// when a run ends in the middle of an instant; so the heap is ours, step by step.
//
// Threading: one owner at a time.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace synergy::reference {

// In the order in which they are handled at one instant.
enum class EventKind : uint32_t { kArrival, kLeaseEnd, kSchedule };

struct Event {
  double time = 0;  // seconds
  EventKind kind = EventKind::kSchedule;
  uint32_t job = 0;  // position in the run's jobs; of no meaning for kSchedule
};

class EventQueue {
 public:
  void Push(Event event);
  // Must not be empty.
  Event Pop();
  bool empty() const { return heap_.empty(); }

 private:
  // Puts the event where it belongs on the way from `position` to the top.
  void MoveUp(size_t position, Event event);

  std::vector<Event> heap_;
};

}  // namespace synergy::reference
