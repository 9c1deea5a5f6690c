#include "http/server/connection_threads.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace synergy::http {

ConnectionThreads::ConnectionThreads(size_t limit, size_t most_waiting,
                                     std::function<void(Fd, const Address&)> serve)
    : limit_(limit), most_waiting_(most_waiting), serve_(std::move(serve)) {}

ConnectionThreads::~ConnectionThreads() { Finish(); }

ConnectionThreads::Added ConnectionThreads::Add(Fd connection, Address address) {
  const std::lock_guard lock(mutex_);
  if (finishing_) return Added::kClosed;
  if (free_threads_ <= queue_.size() && !StartThread()) {
    // Close the connection: without any thread, it would never be served.
    if (threads_.empty()) return Added::kClosed;
    if (queue_.size() - free_threads_ >= most_waiting_ && !DropOneFor(address))
      return Added::kClosed;
    queue_.push_back({std::move(connection), std::move(address)});
    return Added::kWaits;
  }
  queue_.push_back({std::move(connection), std::move(address)});
  work_.notify_one();
  return Added::kServed;
}

size_t ConnectionThreads::Crowd::Served(const Address& address) const {
  const auto found = served.find(address);
  return found == served.end() ? 0 : found->second;
}

size_t ConnectionThreads::CountOf(const Address& address) const {
  if (address.empty()) return 0;
  return crowd_.Served(address) + static_cast<size_t>(std::count_if(
                                      queue_.begin(), queue_.end(), [&](const Pending& pending) {
                                        return pending.address == address;
                                      }));
}

// Closes the newest waiting connection of the address with the most connections. Returns false
// unless that address has more connections than `address` would have.
bool ConnectionThreads::DropOneFor(const Address& address) {
  auto newest = queue_.end();
  size_t most = CountOf(address) + 1;
  std::map<Address, size_t> counts;
  for (auto pending = queue_.begin(); pending != queue_.end(); ++pending) {
    const auto [count, is_new] = counts.try_emplace(pending->address);
    if (is_new) count->second = CountOf(pending->address);
    if (count->second < most || (count->second == most && newest == queue_.end())) continue;
    most = count->second;
    newest = pending;
  }
  if (newest == queue_.end()) return false;
  queue_.erase(newest);
  return true;
}

ConnectionThreads::Crowd ConnectionThreads::crowd() const {
  const std::lock_guard lock(mutex_);
  Crowd crowd = crowd_;
  if (!queue_.empty()) crowd.fewest_of_waiting = crowd.Served(queue_[Next()].address);
  return crowd;
}

// Returns false at limit_, or at the system's limit on threads.
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
    const size_t next = Next();
    Pending pending = std::move(queue_[next]);
    queue_.erase(queue_.begin() + static_cast<ptrdiff_t>(next));
    if (!pending.address.empty()) ++crowd_.served[pending.address];
    lock.unlock();
    serve_(std::move(pending.connection), pending.address);
    lock.lock();
    if (!pending.address.empty() && --crowd_.served[pending.address] == 0)
      crowd_.served.erase(pending.address);
    ++free_threads_;
  }
}

// Connections of equal rank are served in the order of their arrival.
size_t ConnectionThreads::Next() const {
  const auto next = std::min_element(
      queue_.begin(), queue_.end(), [this](const Pending& one, const Pending& other) {
        return crowd_.Served(one.address) < crowd_.Served(other.address);
      });
  return static_cast<size_t>(next - queue_.begin());
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
