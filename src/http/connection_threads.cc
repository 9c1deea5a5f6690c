#include "http/connection_threads.h"

#include <system_error>

namespace synergy::http {

ConnectionThreads::ConnectionThreads(size_t limit, size_t most_waiting,
                                     std::function<void(Fd)> serve)
    : limit_(limit), most_waiting_(most_waiting), serve_(std::move(serve)) {}

ConnectionThreads::~ConnectionThreads() { Finish(); }

ConnectionThreads::Added ConnectionThreads::Add(Fd connection) {
  const std::lock_guard lock(mutex_);
  if (finishing_) return Added::kClosed;
  if (free_threads_ <= queue_.size() && !StartThread()) {
    // Without any thread nobody would ever come for the connection.
    if (threads_.empty() || queue_.size() - free_threads_ >= most_waiting_) return Added::kClosed;
    queue_.push_back(std::move(connection));
    return Added::kWaits;
  }
  queue_.push_back(std::move(connection));
  work_.notify_one();
  return Added::kServed;
}

// Not where the limit, or the system's, is reached.
bool ConnectionThreads::StartThread() {
  if (threads_.size() >= limit_) return false;
  try {
    threads_.emplace_back([this] { Run(); });
  } catch (const std::system_error&) {
    return false;
  }
  ++free_threads_;
  return true;
}

size_t ConnectionThreads::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() > free_threads_ ? queue_.size() - free_threads_ : 0;
}

void ConnectionThreads::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return finishing_ || !queue_.empty(); });
    --free_threads_;
    if (finishing_) return;
    Fd connection = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    serve_(std::move(connection));
    lock.lock();
    ++free_threads_;
  }
}

void ConnectionThreads::Finish() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    queue_.clear();
    threads.swap(threads_);
  }
  work_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace synergy::http
