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

  // Blocks until `bytes` bytes are free, and reserves them; the whole budget, if `bytes` is more.
  // Calls are served in order. Returns nullopt if the bytes are not free by `until`.
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
