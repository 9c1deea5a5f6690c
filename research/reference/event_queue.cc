#include "research/reference/event_queue.h"

namespace synergy::reference {
namespace {

bool IsEarlier(Event a, Event b) {
  return a.time < b.time || (a.time == b.time && a.kind < b.kind);
}

}  // namespace

void EventQueue::Push(Event event) {
  heap_.emplace_back();
  MoveUp(heap_.size() - 1, event);
}

Event EventQueue::Pop() {
  const Event first = heap_.front();
  const Event last = heap_.back();
  heap_.pop_back();
  if (heap_.empty()) return first;
  // The hole moves down to a leaf, always to the child that is earlier, or to the right one on a
  // tie. The last event is put there and moves up.
  const size_t size = heap_.size();
  size_t hole = 0;
  for (size_t child = 1; child < size; child = 2 * hole + 1) {
    if (child + 1 < size && !IsEarlier(heap_[child], heap_[child + 1])) ++child;
    heap_[hole] = heap_[child];
    hole = child;
  }
  MoveUp(hole, last);
  return first;
}

void EventQueue::MoveUp(size_t position, Event event) {
  while (position > 0) {
    const size_t parent = (position - 1) / 2;
    if (!IsEarlier(event, heap_[parent])) break;
    heap_[position] = heap_[parent];
    position = parent;
  }
  heap_[position] = event;
}

}  // namespace synergy::reference
