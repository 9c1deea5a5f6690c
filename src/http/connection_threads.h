#pragma once

// Threads for connections: as many as there are connections, up to a limit, and used again. A
// connection keeps its thread while it is open, so a pool of fixed size would let a few silent
// clients keep out everybody else. Private to this folder.
//
// Threading: Add() from one thread; the rest from any.
// Failures: a thread that cannot be started leaves its connection waiting for another one.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "http/socket.h"

namespace synergy::http {

class ConnectionThreads {
 public:
  // `serve` returns when its connection is done. No more than `most_waiting` have none.
  ConnectionThreads(size_t limit, size_t most_waiting, std::function<void(Fd)> serve);
  ~ConnectionThreads();  // Finish()

  enum class Added { kServed, kWaits, kClosed };
  // Where all threads are taken the connection has to wait, or is closed.
  Added Add(Fd connection);
  // Connections without a thread.
  size_t waiting() const;
  // Drops what waits, takes no more, and returns when every serve() has.
  void Finish();

 private:
  bool StartThread();
  void Run();

  const size_t limit_;
  const size_t most_waiting_;
  const std::function<void(Fd)> serve_;

  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Fd> queue_;
  size_t free_threads_ = 0;  // those just started included
  bool finishing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace synergy::http
