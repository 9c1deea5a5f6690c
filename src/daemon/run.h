#pragma once

// Runs a program from its start until SIGTERM or SIGINT ends it, and raises its limit on open
// files.
//
// Threading: the main thread, before any other; RaiseDescriptorLimit: any thread.

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "core/clock.h"
#include "core/log.h"

namespace synergy::daemon {

// Blocks the signals in this thread and in those that it starts, so that only Wait() receives them.
class Signals {
 public:
  explicit Signals(bool with_hangup);
  int Wait() const;

 private:
  sigset_t signals_;
};

// Starts the program and calls its Stop() at the end. `start(log)` returns a Result of a pointer to
// the program. Returns the exit status: 1 if the start fails, with the reason in the log. Calls
// `reload(program, log)` for each SIGHUP; without `reload`, does not catch SIGHUP.
template <class Start, class Reload>
int Run(LogLevel level, LogFormat format, Start start, Reload reload) {
  constexpr bool kReloads = !std::is_same_v<Reload, std::nullptr_t>;
  const Signals signals(kReloads);
  Logger log(StderrSink(), SystemClock(), level, format);
  auto program = start(log);
  if (!program) {
    log.Error("cannot start", {{"error", program.error().message}});
    return EXIT_FAILURE;
  }
  int signal = signals.Wait();
  if constexpr (kReloads) {
    for (; signal == SIGHUP; signal = signals.Wait()) reload(**program, log);
  }
  log.Info("shutting down", {{"signal", signal}});
  (*program)->Stop();
  log.Info("stopped");
  return EXIT_SUCCESS;
}
template <class Start>
int Run(LogLevel level, LogFormat format, Start start) {
  return Run(level, format, std::move(start), nullptr);
}

// Raises the limit on open files and connections to its maximum, and returns the new limit. Many
// container runtimes start processes with 1024, for programs that use select().
size_t RaiseDescriptorLimit();

}  // namespace synergy::daemon
