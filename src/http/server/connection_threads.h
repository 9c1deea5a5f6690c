#pragma once

// Serves each connection in its own thread, up to a limit, and reuses threads. A connection keeps
// its thread while it is open, so in a pool of fixed size a few silent clients could block all
// others. If connections must wait, a connection of the address with the fewest connections in
// service goes first. So a client with very many connections does not block the others. Private to
// this folder.
//
// Threading: one thread calls Add(); any thread may call the other functions. Failures: if a thread
// cannot be started, its connection waits for another one.

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
  // A client's address, as text. Connections with an empty address are not counted.
  using Address = std::string;

  // `serve` must return when its connection is done. At most `most_waiting` connections may wait
  // for a thread.
  ConnectionThreads(size_t limit, size_t most_waiting,
                    std::function<void(Fd, const Address&)> serve);
  ~ConnectionThreads();  // calls Finish()

  enum class Added { kServed, kWaits, kClosed };
  // Starts to serve the connection, or lets it wait if all threads are taken. If too many wait,
  // closes the newest connection of the address with the most: this one, or one that it replaces.
  Added Add(Fd connection, Address address);
  // Returns how many connections have no thread.
  size_t waiting() const;
  struct Crowd {
    std::map<Address, size_t> served;  // connections in service
    // The lowest number in service among the waiting addresses; 0: none waits.
    size_t fewest_of_waiting = 0;

    size_t Served(const Address& address) const;
  };
  Crowd crowd() const;
  // Drops waiting connections, accepts no more, and returns when every serve() has returned.
  void Finish();

 private:
  struct Pending {
    Fd connection;
    Address address;
  };

  bool StartThread();
  void Run();
  size_t Next() const;
  bool DropOneFor(const Address& address);
  size_t CountOf(const Address& address) const;

  const size_t limit_;
  const size_t most_waiting_;
  const std::function<void(Fd, const Address&)> serve_;

  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Pending> queue_;
  Crowd crowd_;              // fewest_of_waiting is unset
  size_t free_threads_ = 0;  // includes those just started
  bool finishing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace synergy::http
