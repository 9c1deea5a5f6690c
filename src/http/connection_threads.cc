#include "http/connection_threads.h"

#include <system_error>

namespace synergy::http {

ConnectionThreads::ConnectionThreads(size_t limit, std::function<void(Fd)> serve)
    : limit_(limit), serve_(std::move(serve)) {}

ConnectionThreads::~ConnectionThreads() { Finish(); }

bool ConnectionThreads::Add(Fd connection) {
  const std::lock_guard lock(mutex_);
  if (finishing_) return true;
  queue_.push_back(std::move(connection));
  if (free_threads_ >= queue_.size()) {
    work_.notify_one();
    return true;
  }
  if (threads_.size() >= limit_) return false;
  try {
    threads_.emplace_back([this] { Run(); });
    ++free_threads_;
  } catch (const std::system_error&) {
    // The limit of processes is reached. Without any thread nobody would ever come for the
    // connection.
    if (threads_.empty()) queue_.pop_back();
    return false;
  }
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
