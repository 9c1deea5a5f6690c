#include "http/server/body_budget.h"

#include <algorithm>
#include <utility>

namespace synergy::http {

std::optional<BodyBudget::Share> BodyBudget::Take(size_t bytes,
                                                  std::chrono::steady_clock::time_point until) {
  bytes = std::min(bytes, whole_);
  std::unique_lock lock(mutex_);
  const auto turn = waiting_.insert(waiting_.end(), Turn());
  const bool free =
      changed_.wait_until(lock, until, [&] { return turn == waiting_.begin() && free_ >= bytes; });
  waiting_.erase(turn);
  if (free) free_ -= bytes;
  lock.unlock();
  // Let the next call try, whether or not this one got its bytes.
  changed_.notify_all();
  if (!free) return std::nullopt;
  return std::optional<Share>(std::in_place, *this, bytes);
}

void BodyBudget::Return(size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    free_ += bytes;
  }
  changed_.notify_all();
}

}  // namespace synergy::http
