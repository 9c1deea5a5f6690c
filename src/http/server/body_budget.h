#pragma once

// Limits the memory for the bodies of all requests together. Private to this folder.
//
// Threading: any thread.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

namespace synergy::http {

class BodyBudget {
 public:
  // Holds reserved bytes while it lives. The budget must outlive it.
  class Share {
   public:
    Share(BodyBudget& budget, size_t bytes) : budget_(&budget), bytes_(bytes) {}
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      if (budget_ != nullptr) budget_->Return(bytes_);
    }

   private:
    BodyBudget* budget_;
    size_t bytes_;
  };

  explicit BodyBudget(size_t bytes) : whole_(bytes), free_(bytes) {}

  // Waits until this many bytes are free, or the whole budget if that is less, in the order of the
  // calls. Returns nullopt if they were not free in time.
  std::optional<Share> Take(size_t bytes, std::chrono::steady_clock::time_point until);

 private:
  struct Turn {};

  void Return(size_t bytes);

  const size_t whole_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t free_;
  std::list<Turn> waiting_;
};

}  // namespace synergy::http
