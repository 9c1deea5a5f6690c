#include "daemon/run.h"

namespace synergy::daemon {

Signals::Signals(bool with_hangup) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  if (with_hangup) sigaddset(&signals_, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int Signals::Wait() const {
  int signal = 0;
  sigwait(&signals_, &signal);
  return signal;
}

}  // namespace synergy::daemon
