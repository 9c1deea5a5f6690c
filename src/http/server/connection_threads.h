#pragma once

// Threads for connections: as many as there are connections, up to a limit, and used again. A
// connection keeps its thread while it is open, so a pool of fixed size would let a few silent
// clients keep out everybody else. Where some have to wait, those go first of whose address fewest
// are served, so that one client with very many does not keep out the others. Private to this
// folder.
//
// Threading: Add() from one thread; the rest from any.
// Failures: a thread that cannot be started leaves its connection waiting for another one.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http/socket.h"

namespace synergy::http {

class ConnectionThreads {
 public:
  // A client's address, as text. An empty one is of somebody whose connections do not count.
  using Address = std::string;

  // `serve` returns when its connection is done. No more than `most_waiting` have no thread.
  ConnectionThreads(size_t limit, size_t most_waiting,
                    std::function<void(Fd, const Address&)> serve);
  ~ConnectionThreads();  // Finish()

  enum class Added { kServed, kWaits, kClosed };
  // Where all threads are taken the connection has to wait. Where too many wait, the newest of the
  // address that has most is closed: this one, or one that it takes the place of.
  Added Add(Fd connection, Address address);
  // Connections without a thread.
  size_t waiting() const;
  struct Crowd {
    std::map<Address, size_t> served;  // connections in service
    // How many the address has that has fewest, of those that wait; 0: none waits.
    size_t fewest_of_waiting = 0;

    size_t Served(const Address& address) const;
  };
  Crowd crowd() const;
  // Drops what waits, takes no more, and returns when every serve() has.
  void Finish();

 private:
  struct Pending {
    Fd connection;
    Address address;
  };
  using Queue = std::deque<Pending>;

  bool StartThread();
  void Run();
  Queue::iterator Next();
  bool TakePlace(const Address& address);
  size_t Has(const Address& address) const;

  const size_t limit_;
  const size_t most_waiting_;
  const std::function<void(Fd, const Address&)> serve_;

  mutable std::mutex mutex_;
  std::condition_variable work_;
  Queue queue_;
  Crowd crowd_;              // but for fewest_of_waiting
  size_t free_threads_ = 0;  // those just started included
  bool finishing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace synergy::http
