// A second device plugin on a real node. It registers, and registers again each time the kubelet
// starts. It ends on SIGTERM.
//
// usage: stand-in-plugin FOLDER SOCKET RESOURCE ID...

#include "support/stand_in_plugin.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace {

// Returns the file's modification time in nanoseconds since 1970; 0 if there is no file.
long long MadeAt(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return 0;
  return status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 4) {
    std::fputs("usage: stand-in-plugin FOLDER SOCKET RESOURCE ID...\n", stderr);
    return EXIT_FAILURE;
  }
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  synergy::testing::StandInPlugin plugin(arguments[0], arguments[1], arguments[2],
                                         {arguments.begin() + 3, arguments.end()});
  long long registered = 0;
  const timespec pause{0, 200'000'000};
  do {
    const long long made = MadeAt(arguments[0] + "/kubelet.sock");
    if (made == 0 || made == registered) continue;
    if (registered != 0) {
      plugin.End();
      plugin.Serve();
    }
    if (plugin.Register().ok()) {
      registered = made;
      std::puts("registered");
      std::fflush(stdout);
    }
  } while (sigtimedwait(&ends, nullptr, &pause) < 0);
  return EXIT_SUCCESS;
}
