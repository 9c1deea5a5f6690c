#include "cluster/support/trainer/checkpoint.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace synergy::trainer {
namespace {

// Returns the value in the last complete line that has one; 0 if none does. If a line was torn, the
// next one continues it, and that line does not count.
uint64_t LastSaved(const std::string& path) {
  std::ifstream file(path);
  uint64_t saved = 0;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    unsigned long long iterations = 0;
    int end = 0;
    if (std::sscanf(line.c_str(), "time=%*f saved=%llu%n", &iterations, &end) == 1 &&
        line.size() == static_cast<size_t>(end))
      saved = iterations;
  }
  return saved;
}

}  // namespace

Checkpoint::Checkpoint(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  begun_ = LastSaved(path_);
  Append("began", begun_);
  if (begun_ == 0) return;
  std::printf("loaded checkpoint from %s at iteration %llu\n", path_.c_str(),
              static_cast<unsigned long long>(begun_));
  std::fflush(stdout);
}

void Checkpoint::Save(uint64_t iterations) {
  if (path_.empty()) return;
  const std::lock_guard lock(mutex_);
  Append("saved", iterations);
  std::printf("saving checkpoint at iteration %llu to %s\n",
              static_cast<unsigned long long>(iterations), path_.c_str());
  std::fflush(stdout);
}

void Checkpoint::Append(const char* what, uint64_t iterations) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  char line[96];
  const int size = std::snprintf(line, sizeof(line), "time=%.3f %s=%llu\n", now.count(), what,
                                 static_cast<unsigned long long>(iterations));
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool written = file >= 0 && write(file, line, static_cast<size_t>(size)) == size &&
                       fsync(file) == 0 && close(file) == 0;
  if (written) return;
  std::fprintf(stderr, "trainer: %s: %s\n", path_.c_str(), std::strerror(errno));
  std::exit(EXIT_FAILURE);
}

}  // namespace synergy::trainer
