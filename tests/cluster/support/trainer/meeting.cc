#include "cluster/support/trainer/meeting.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace synergy::trainer {
namespace {

// How often a waiting worker checks whether it has to stop.
constexpr timespec kStopLook{.tv_sec = 0, .tv_nsec = 100'000'000};

[[noreturn]] void Fail(const std::string& path) {
  std::fprintf(stderr, "--meet %s: %s\n", path.c_str(), std::strerror(errno));
  std::exit(EXIT_FAILURE);
}

}  // namespace

Meeting::Meeting(const std::string& path, int rank, int ranks) {
  if (path.empty()) return;
  const auto size = sizeof(Count) * static_cast<size_t>(ranks);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  // The first worker gets zeros; for the others the file already has this size.
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) Fail(path);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) Fail(path);
  close(file);
  counts_ = {static_cast<Count*>(memory), static_cast<size_t>(ranks)};
  own_ = static_cast<size_t>(rank);
  counts_[own_] = 0;
}

Meeting::~Meeting() {
  if (!counts_.empty()) munmap(counts_.data(), counts_.size_bytes());
}

void Meeting::Meet(const std::stop_token& stop) {
  if (counts_.empty()) return;
  const uint32_t now = ++counts_[own_];
  syscall(SYS_futex, &counts_[own_], FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  for (Count& count : counts_) {
    for (uint32_t seen = count; seen < now && !stop.stop_requested(); seen = count)
      syscall(SYS_futex, &count, FUTEX_WAIT, seen, &kStopLook, nullptr, 0);
  }
}

}  // namespace synergy::trainer
